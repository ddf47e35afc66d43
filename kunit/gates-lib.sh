# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the gates on the whole (gates.sh), those on each patch of the series
# (series/check-series.sh) and those on other kernels (matrix.sh) share. Sourced after
# lib.sh, never run.

# The exit status by which a gate says that it has nothing to judge.
# shellcheck disable=SC2034 # used by the scripts that source this
SKIP=77
# Names of the kernel's that look like misspelt words.
# shellcheck disable=SC2034
SPELLING=(codespell "--ignore-words-list=extraversion,iput,parms")

# The new files whose names end in one of the given ways.
new_files_like() {
	new_files | grep -E "\.($1)\$" || true
}

# What a patch adds, and its text: the rest is the kernel's.
own_lines() {
	if [[ $1 == *.patch ]]; then
		awk '/^diff --git/ { diff = 1 } !diff || /^[+]/ { print } diff && !/^[+]/ { print "" }' "$1"
	else
		cat -- "$1"
	fi
}

# A kernel tree without the series that can be built from: a KDIR of the user's
# may have been built in place, so there it is the copy, with links to the files
# which the series does not touch.
base_to_build() {
	local file

	if [[ -z ${KDIR:-} ]]; then
		echo "$BASE"
		return
	fi
	rm -rf -- "$BUILD/gates-tree$SUFFIX"
	cp -al -- "$TREE" "$BUILD/gates-tree$SUFFIX"
	while IFS= read -r file; do
		rm -f -- "$BUILD/gates-tree$SUFFIX/$file"
		[[ ! -e $BASE/$file ]] || cp -p -- "$BASE/$file" "$BUILD/gates-tree$SUFFIX/$file"
	done < <(overlay_files)
	echo "$BUILD/gates-tree$SUFFIX"
}

# The objects of the touched C files which the source $1 has, for the kernel $2; a
# file that another one includes has none, nor have the suites without suites.
touched_objects() {
	local files file

	files=$(overlay_files)
	while IFS= read -r file; do
		[[ -f $1/$file && ($2 == suites || $file != */tests/*) ]] || continue
		(cd -- "$TREE" && xargs -d '\n' grep -qE "^#include .*[/\"]${file##*/}") <<<"$files" || echo "${file%.c}.o"
	done < <(grep '\.c$' <<<"$files")
}

# Configures the kernel in $2 from the source $1, with the suites if $3 says so, by
# the compiler $4.
configure() {
	local fragment=$2/fragment.config file

	mkdir -p -- "$2"
	cp -- "$REPO/kunit/gates.config" "$fragment"
	[[ $3 != suites ]] || while IFS= read -r file; do
		cat -- "$TREE/$file" >>"$fragment"
	done < <(suite_configs)
	[[ ! -f $2/.config ]] || ! cmp -s -- "$fragment" "$2/fragment.used" || return 0
	make -s -C "$1" O="$2" ARCH=x86_64 CC="${4:-gcc}" KCONFIG_ALLCONFIG="$fragment" allnoconfig && cp -- "$fragment" "$2/fragment.used"
}

# The warnings in a log, without what differs between two trees anyway.
warnings() {
	grep -E '(warning|error): ' "$1" | sed -E -e "s|$2/||g" -e 's|^(\.\./)+||' -e 's/:[0-9]+(:[0-9]+)?:/:/g' | sort
}
