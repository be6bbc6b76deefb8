# SPDX-License-Identifier: Apache-2.0
#
# What needs GPUs: 2 at least. GPUS=N takes that many; NCCL_TESTS is the folder of nccl-tests: its
# source, or its programs built with MPI=1.

GPUS ?=
NCCL_TESTS ?=

# The tests would all be skipped, which is no verdict.
need_gpus = @n=$(or $(GPUS),$$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)); \
	[ "$${n:-0}" -ge 2 ] || { echo "gradsync: $@ needs 2 GPUs, found $${n:-0}: run it where nvidia-smi lists them" >&2; exit 3; }

##@ Checks and benchmarks
.PHONY: check-gpu bench-gpu
check-gpu: all ## NCCL_TESTS=DIR test the GPU plugins on the GPUs of this machine
	$(need_gpus)
	@BUILD='$(BUILD)' GPUS='$(GPUS)' NCCL_TESTS='$(NCCL_TESTS)' JOBS=1 bash tests/run tests/gpu/test_*.sh
bench-gpu: all ## NCCL_TESTS=DIR measure their speed, each value beside its limit
	$(need_gpus)
	@export BUILD='$(BUILD)' GPUS='$(GPUS)' NCCL_TESTS='$(NCCL_TESTS)'; \
	bash tests/bench/gpu.sh && bash tests/bench/price_gpu.sh
