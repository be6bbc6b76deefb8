# SPDX-License-Identifier: Apache-2.0
#
# Builds gradsync workload plugins, inside and outside the tree.
#
# Outside the tree, in a folder with foo.c or foo/*.c, this builds ./foo.so:
#     make -f "$(pkg-config --variable=plugin_mk gradsync)" NAME=foo
# If pkg-config does not find gradsync, set GRADSYNC_INCLUDE to the folder of workload.h.
#
# A plugin that needs more has a file foo/build.mk (outside the tree also ./build.mk). It may set
# only these variables:
#     foo_needs    := mpi blas cuda nccl     any of these; a missing one leaves the plugin out
#     foo_extra    := common/clock.c         more sources, relative to the folder where make runs
#     foo_cppflags := -DX    foo_libs := -lcublas    foo_nvccflags := -arch=sm_80
#     foo_backends := cuda                   builds foo/cuda.so from foo/cuda/*.c
#     foo/cuda_needs := cuda nccl            the same variables for a backend

# CC is not set by the user: make's default, or undefined under `make -R`.
ifneq ($(filter default undefined,$(origin CC)),)
CC := cc
endif
CUDA_HOME ?= /usr/local/cuda
NCCL_HOME ?= /usr
MPICC ?= mpicc
CFLAGS ?= -O2 -g
LDFLAGS ?=
WARNINGS ?= -Wall -Wextra

gs_comma := ,
# Checked library calls and stacks, and tables that are read-only once loaded: none with a sanitizer,
# which checks more, nor in what nvcc compiles. Compilers before GCC 12 know level 2 at most.
gs_hardened := $(if $(findstring -fsanitize,$(CFLAGS)),,yes)
gs_fortify := $(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),$(shell echo '\#include <stdlib.h>' | \
	$(CC) -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -Werror -fsyntax-only -xc - 2>/dev/null && echo 3 || echo 2))
gs_harden_cc := $(if $(gs_hardened),-fstack-protector-strong $(gs_fortify:%=-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=%))
gs_harden_ld := $(if $(gs_hardened),-Wl$(gs_comma)-z$(gs_comma)relro$(gs_comma)-z$(gs_comma)now)

# The value of a variable; empty, without a warning, if it was never set.
gs_get = $(if $(filter-out undefined,$(origin $1)),$($1))

# For each library that a plugin may need: where it is, and how to compile and link with it.
gs_have_mpi := $(shell command -v $(MPICC) || true)
gs_have_blas := $(firstword $(wildcard /usr/include/cblas.h /usr/include/*/cblas.h))
gs_have_cuda := $(wildcard $(CUDA_HOME)/include/cuda_runtime_api.h)
gs_have_nccl := $(wildcard $(NCCL_HOME)/include/nccl.h)
gs_cppflags_cuda := $(patsubst %,-isystem %/include,$(filter-out /usr,$(CUDA_HOME)))
gs_cppflags_nccl := $(patsubst %,-isystem %/include,$(filter-out /usr,$(NCCL_HOME)))
gs_libs_blas := -lopenblas
gs_libs_cuda := $(foreach d,$(filter-out /usr,$(CUDA_HOME)),-L$d/lib64 -Wl$(gs_comma)-rpath$(gs_comma)$d/lib64) -lcudart
gs_libs_nccl := $(foreach d,$(filter-out /usr,$(NCCL_HOME)),-L$d/lib -Wl$(gs_comma)-rpath$(gs_comma)$d/lib) -l:libnccl.so.2

gs_missing = $(strip $(foreach n,$(call gs_get,$1_needs),$(if $(call gs_get,gs_have_$n),,$n)))
gs_sources = $(or $(wildcard $(gs_root)/$1/*.c),$(gs_root)/$1.c) $(call gs_get,$1_extra)
gs_object = $(gs_obj)/$1/$(subst /,.,$(basename $2)).o
gs_needed = $(foreach n,$(call gs_get,$1_needs),$(call gs_get,gs_$2_$n)) $(call gs_get,$1_$2)
gs_cc = $(if $(filter mpi,$(call gs_get,$1_needs)),OMPI_CC=$(CC) MPICH_CC=$(CC) $(MPICC),$(CC))

# nvcc compiles .cu files. It writes the names of its temporary files into the object. With --keep the
# names are the same each time, so equal sources give equal objects.
define gs_compile_cu
$(call gs_object,$1,$2): $2 $(call gs_get,gs_options)
	$$(call quiet,NVCC,$$<)mkdir -p $$@.kept && trap 'rm -rf $$@.kept' EXIT && $(CUDA_HOME)/bin/nvcc --keep --keep-dir $$@.kept -ccbin $(CC) $(gs_include) \
	  $(call gs_get,$1_nvccflags) -O2 -MMD -MP -Xcompiler -fPIC,-fvisibility=hidden -c -o $$@ $$<
-include $(patsubst %.o,%.d,$(call gs_object,$1,$2))
endef

define gs_compile
$(call gs_object,$1,$2): $2 $(call gs_get,gs_options)
	$$(call quiet,CC,$$<)mkdir -p $$(@D) && $(call gs_cc,$1) -std=c11 -D_GNU_SOURCE $(gs_include) $(call gs_needed,$1,cppflags) -MMD -MP \
	  -fPIC -fvisibility=hidden $(WARNINGS) $(CFLAGS) $(gs_harden_cc) -c -o $$@ $$<
-include $(patsubst %.o,%.d,$(call gs_object,$1,$2))
endef

# $(eval $(call gs_module,foo)): rules for $(gs_out)/foo.so. It exports only wl_plugin_v1.
define gs_module
$(gs_out)/$1.so: $(foreach s,$(call gs_sources,$1),$(call gs_object,$1,$s))
	$$(call quiet,PLUGIN,$$@)mkdir -p $$(@D) && $(call gs_cc,$1) -shared $(CFLAGS) $(LDFLAGS) $(gs_harden_ld) -Wl,-z,defs -o $$@ $$^ $(call gs_needed,$1,libs) -lm
$(foreach s,$(call gs_sources,$1),$(eval $(call gs_compile$(filter _cu,$(subst .,_,$(suffix $s))),$1,$s)))
endef

ifndef gs_in_tree
quiet :=
ifeq ($(call gs_get,NAME),)
$(error NAME is not set; use: make -f plugin.mk NAME=foo)
endif
gs_root := .
gs_out := .
gs_obj := .obj
gs_include := $(if $(call gs_get,GRADSYNC_INCLUDE),-I"$(GRADSYNC_INCLUDE)",$(shell pkg-config --cflags gradsync))
ifeq ($(gs_include),)
$(error pkg-config does not find gradsync; set PKG_CONFIG_PATH to PREFIX/lib/pkgconfig or GRADSYNC_INCLUDE to the folder of workload.h)
endif
-include build.mk $(NAME)/build.mk
.DEFAULT_GOAL := all
gs_modules := $(NAME) $(addprefix $(NAME)/,$(call gs_get,$(NAME)_backends))
all: $(gs_modules:%=%.so)
clean:
	rm -rf .obj $(gs_modules:%=%.so)
.PHONY: all clean
$(foreach m,$(gs_modules),$(if $(call gs_missing,$m),$(error $m needs $(call gs_missing,$m), which was not found)))
$(foreach m,$(gs_modules),$(eval $(call gs_module,$m)))
endif
