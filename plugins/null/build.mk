null_extra := plugins/common/rng.c
