# SPDX-License-Identifier: Apache-2.0
#
# What a user may set on the command line or in the environment; variables only.

BUILD ?= build
# Names of files to build cannot hold spaces. Inside the checkout, whose own path may have some, the
# build folder is named relative to it.
override BUILD := $(subst $(CURDIR)/,,$(BUILD))
ifneq ($(words $(BUILD)),1)
$(error BUILD='$(BUILD)': the path of the build folder must not have spaces; choose another folder)
endif
PREFIX ?= /usr/local
DESTDIR ?=
CUDA_HOME ?= $(patsubst %/include/cuda_runtime.h,%,$(firstword $(wildcard /usr/local/cuda/include/cuda_runtime.h /usr/include/cuda_runtime.h)))
NCCL_HOME ?= $(patsubst %/include/nccl.h,%,$(firstword $(wildcard $(addsuffix /include/nccl.h,$(CUDA_HOME) /usr /usr/local))))
MPI_HOME ?=
PLATFORM ?=
# The name of a config, or its path below configs/; several for a report.
platform_given := $(firstword $(origin PLATFORM))
override PLATFORM := $(patsubst %.ini,%,$(PLATFORM:configs/%=%))
JOBS ?=
NAME ?=
RUN ?=
ARGS ?=
PART ?=
WORD ?=
TESTS ?=
TELL ?=
STATIC ?=
CONFIGS ?=
COLOURS ?=
ONLY ?=
V ?=

ifneq ($(filter default undefined,$(origin CC)),)
CC := gcc
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := ar
endif
CFLAGS ?= -O2 -g
LDFLAGS ?=
# A compiler newer than ours may warn of more: that is an error where we build (WERROR=-Werror, as
# .ci/run does), not where a user does.
WERROR ?=
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(WERROR)
MPI_BIN := $(if $(MPI_HOME),$(MPI_HOME)/bin/)
MPICC ?= $(MPI_BIN)mpicc
export MPIRUN ?= $(MPI_BIN)mpirun

# $(call set_up,PART,NAME,GOALS): where one of the goals was asked for and this machine lacks NAME (found.sh), what
# setup.sh PART lists is installed before minutes of building and measuring; else make ends. -n installs nothing.
lacks = $(shell CC='$(CC)' bash mk/found.sh --lacks $2)
installs = $(if $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),no,$(shell bash mk/setup.sh $1 >&2 || echo no))
set_up = $(if $(filter $3,$(MAKECMDGOALS)),$(if $(lacks),$(if $(installs),$(error $(lacks)))))
$(call set_up,figures,gnuplot,figures figures-all drawn sound-drawn report readme model-error paper)
$(call set_up,check,cmocka,check check-all check-asan unit test-programs asan-build)

# "  CC      runner/base/text.c" instead of the command; V=1 shows the command.
quiet = $(if $(V),,@printf '  %-7s %s\n' '$1' '$2';)
