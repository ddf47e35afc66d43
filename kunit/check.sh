#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs everything, goes on after a failure, and ends with the sums.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# Only whole runs count here.
unset ARGS
PASSED=0
FAILED=0
SKIPPED=0

# Runs a part of the check and adds what it counted. One that ends with an error
# and counted no failure is a failure of its own.
part() {
	local status=0 passed=0 failed=0 skipped=0

	: >"$HARNESS_COUNTS"
	"$@" || status=$?
	((status < 128)) || exit "$status"
	read -r passed failed skipped <"$HARNESS_COUNTS" || failed=1
	((status == 0 || failed > 0)) || failed=1
	PASSED=$((PASSED + passed))
	FAILED=$((FAILED + failed))
	SKIPPED=$((SKIPPED + skipped))
}

main() {
	begin
	export HARNESS_COUNTS=$BUILD/counts
	prepare check
	part "$REPO/kunit/run-kunit.sh"
	part "$REPO/kunit/run-kunit.sh" debug
	part "$REPO/kunit/gates.sh"
	part env ROW= "$REPO/kunit/matrix.sh" check
	part "$REPO/kunit/find-loops.sh" check
	part env QUICK=1 "$REPO/kunit/series/check-series.sh"
	part env QUICK=1 "$REPO/kunit/user/run-user.sh" model
	part "$REPO/kunit/user/run-user.sh" fuzz
	part env MUTANTS=lib "$REPO/kunit/user/run-user.sh" mutants
	part env QUICK=1 "$REPO/kunit/user/run-user.sh" bench
	part env QUICK=1 KERNEL= WORKLOAD= ACCEL= "$REPO/kunit/latency/run-latency.sh"
	step "done"
	echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
	((FAILED == 0))
}

main
