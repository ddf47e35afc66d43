#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Removes what the jobs made below the build folder, by name: the folder may be
# one of the user's with other things in it. "outputs" keeps the kernel trees.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

unset KDIR
set_paths
[[ -d $BUILD ]] || exit 0
[[ -e $BUILD/.lock ]] || die "$BUILD is no build folder of this harness: nothing removed"
take_lock
rm -rf -- "$BUILD"/um "$BUILD"/um-* "$BUILD"/latency* "$BUILD"/soak* "$BUILD"/user "$BUILD"/find-loops "$BUILD"/matrix* "$BUILD"/gates-* "$BUILD"/stage* "$BUILD"/series-gates* "$BUILD"/series-check* "$BUILD"/series-tmp* "$BUILD"/series-poster "$BUILD"/unpack "$BUILD"/counts
[[ $1 == all ]] || exit 0
rm -rf -- "$BUILD"/linux "$BUILD"/linux-???????? "$BUILD"/linux-source-6.1 "$BUILD"/linux-6.1-tree "$BUILD"/linux-latency* "$BUILD"/linux-mutants* "$BUILD"/linux-series* "$BUILD"/series* "${BASE:?}" "$BUILD/.lock"
rmdir --ignore-fail-on-non-empty -- "$BUILD"
