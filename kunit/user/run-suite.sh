#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the mutant that is in $TREE and runs its suite $1. 2: it does not compile.
# A kernel that complains, of a lock that is held for instance, has found it too.
set -euo pipefail

make -s -C "$TREE" ARCH=um O="$KERNEL_OBJECTS" -j"$(nproc)" all >"$KERNEL_OBJECTS/build.log" 2>&1 9>&- || exit 2
timeout 100 python3 "$TREE/tools/testing/kunit/kunit.py" exec --arch=um --build_dir="$KERNEL_OBJECTS" \
	--timeout=40 --kernel_args=panic_on_warn=1 "$1" 9>&-
! grep -Eq 'BUG: |WARNING: |INFO: |UBSAN: ' "$KERNEL_OBJECTS/test.log"
