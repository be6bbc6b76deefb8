null_extra := runner/rng.c
