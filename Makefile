# SPDX-License-Identifier: GPL-2.0
# Names the jobs; the scripts in kunit/ do them.

# Taken as they were typed: a `$` in them is not for make.
override ARGS := $(value ARGS)
override KDIR := $(value KDIR)
override BUILD := $(value BUILD)
override DIRS := $(value DIRS)
export ARGS KDIR BUILD DIRS MODE QUICK KERNEL WORKLOAD ACCEL MUTANTS FUZZ_SECONDS VERSION ROW MINUTES

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help kunit check latency find-holds soak find-loops model fuzz mutants bench series series-check matrix tree refresh clean distclean

help: ## list the jobs and what they take
	@kunit/help.sh Makefile

kunit: ## build a User Mode Linux kernel with our changes and run the KUnit suites
	@kunit/run-kunit.sh

check: ## everything: the suites, the suites on a debug kernel, the static gates
	@kunit/check.sh

latency: ## boot four kernels in qemu and measure the longest holds (QUICK=1: 10 minutes)
	@kunit/latency/run-latency.sh

find-holds: ## rank who keeps interrupts or preemption off longest, without and with the series
	@kunit/latency/find-holds.sh

soak: ## run everything at once on kernels that check everything (MINUTES=60)
	@kunit/latency/soak.sh

model: ## compare the helper with a reference in all small worlds, in user space
	@kunit/user/run-user.sh model

fuzz: ## ... and on what libFuzzer thinks of
	@kunit/user/run-user.sh fuzz

mutants: ## break the code on purpose, a change at a time, and see a test fail
	@kunit/user/run-user.sh mutants

bench: ## what a bound costs on this machine, against other bounds and none
	@kunit/user/run-user.sh bench

find-loops: ## find list walks under a lock that nothing bounds, in the kernel without the series
	@kunit/find-loops.sh

series: ## write the patch series as it is posted, with its cover letter (VERSION=2: a reroll)
	@kunit/series/make-series.sh

series-check: ## ... and judge each of its patches by every gate (QUICK=1: build two of them)
	@kunit/series/check-series.sh

matrix: ## the suites on other architectures and configurations, or the touched files
	@kunit/matrix.sh

tree: ## make the patched kernel tree to look at, and print its path
	@kunit/make-tree.sh

refresh: ## regenerate the patches' line numbers against the base kernel
	@kunit/refresh-patches.sh

clean: ## remove the build outputs, keep the kernel trees
	@kunit/clean.sh outputs

distclean: ## remove everything that was generated or unpacked
	@kunit/clean.sh all

## Variables:
## ARGS='bounded_iter.*'   for kunit: passed on to kunit.py run (a filter,
##                         --raw_output, --json, --kernel_args="a=1 b=2" ...)
## QUICK=1                 for latency, find-holds: the small workloads only; for
##                         series-check: builds after the first and the last patch only
## MINUTES=60              for soak: how long
## ROW='i386 no-kunit'     for matrix: only these rows (see kunit/matrix)
## VERSION=2               for series: number 2, with what changed since number 1
## KERNEL=, WORKLOAD=      for latency, find-holds: only those whose names begin so
## ACCEL=kvm               for latency, soak: real time and real CPUs, where KVM is
## FUZZ_SECONDS=60         for fuzz
## MUTANTS='lib vmscan'    for mutants: of what (all: lib and the suites)
## DIRS='mm fs/ext4'       for find-loops: where (mm fs net/core block)
## MODE=org                for find-loops: as links for Emacs' org mode
## KDIR=/path/to/linux     use this kernel tree as the base, read only,
##                         instead of Debian's linux-source-6.12
## BUILD=/other/dir        where everything generated goes, instead of build/
