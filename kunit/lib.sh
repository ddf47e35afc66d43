# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the scripts of this folder share. Sourced, never run.

set -euo pipefail

# The compiler's and the tools' messages are compared and parsed.
export LC_ALL=C
# Trees are compared, and kunit.py and kernel-doc would leave their bytecode there.
export PYTHONDONTWRITEBYTECODE=1
# The kernel's make must not inherit our make's options and variables, nor git
# a repository from a hook that calls us.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL GNUMAKEFLAGS
unset ARCH CROSS_COMPILE KBUILD_OUTPUT KCONFIG_CONFIG CDPATH
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX

# kunit.py answers Ctrl-C by an ordinary exit; go no further all the same.
trap 'exit 130' INT
trap 'exit 143' TERM

REPO=$(realpath -- "${BASH_SOURCE[0]%/*}/..")
SOURCE_PACKAGE=linux-source-6.12
SERIES_FILE=${SERIES_FILE:-$REPO/series}
export HARNESS_START=${HARNESS_START:-$(date +%s)}

# Lines by which the kernel reports what fails no test case. KUnit's panic_on_warn
# stops at most of them, but lockdep, for one, only writes.
# shellcheck disable=SC2034 # used by the scripts that read logs
SPLATS='^(<[0-9]>)?(\[[^]]*\] *)*(rcu: )?(WARNING: |BUG[: ]|kernel BUG at |UBSAN: |KASAN: |Kernel panic|INFO: (rcu|task|possible|suspicious|trying|lockdep)|Oops|general protection|Unable to handle kernel|list_(add|del) corruption|ODEBUG: |refcount_t: |page dumped because)'

# Ends the job: what was wrong and where, then one line each on what to do.
die() {
	printf 'error: %s\n' "$1" >&2
	shift
	(($# == 0)) || printf '       %s\n' "$@" >&2
	exit 1
}

# One line per step, with the time since the job started.
step() {
	local seconds=$(($(date +%s) - HARNESS_START))

	printf '[%2d:%02d] %s\n' $((seconds / 60)) $((seconds % 60)) "$*" >&2
}

kernel_version() {
	awk -F' *= *' '
		$1 == "VERSION" { v = $2 }
		$1 == "PATCHLEVEL" { p = $2 }
		$1 == "SUBLEVEL" { s = $2 }
		$1 == "EXTRAVERSION" { e = $2; exit }
		END { print v "." p "." s e }' "$1/Makefile"
}

# kbuild splits paths at blanks and colons; the shells it calls trip over the
# other characters.
check_build_path() {
	local bad=$' \t\n:;$#%&*?!()<>|`\'"\\[]{}' rest

	rest=${BUILD//[^"$bad"]/}
	[[ -z $rest ]] ||
		die "a kernel cannot be built in a path with '${rest:0:1}': $BUILD" \
			"give another place: make BUILD=/some/dir ..."
}

is_kernel_tree() {
	[[ -f $1/Kbuild && -f $1/Kconfig && -f $1/Makefile ]] &&
		grep -q '^VERSION = ' "$1/Makefile" && grep -q '^PATCHLEVEL = ' "$1/Makefile"
}

check_kdir() {
	[[ -e $KDIR ]] ||
		die "KDIR=$KDIR does not exist" \
			"give the top of a Linux source tree, or no KDIR= to use Debian's $SOURCE_PACKAGE"
	is_kernel_tree "$KDIR" ||
		die "KDIR=$KDIR is no Linux source tree (no Makefile with VERSION and PATCHLEVEL, Kbuild, Kconfig)" \
			"give the top of a Linux source tree, e.g. of a git clone"
	[[ -f $KDIR/include/kunit/static_stub.h && -f $KDIR/tools/testing/kunit/kunit.py ]] ||
		die "KDIR=$KDIR is Linux $(kernel_version "$KDIR"): too old, it lacks KUnit's static stubs (include/kunit/static_stub.h, v6.3) or kunit.py" \
			"give a tree of Linux 6.12 or close to it"
	[[ $BUILD/ != "$KDIR"/* ]] ||
		die "the build folder $BUILD is inside KDIR=$KDIR, which is never written to" \
			"give another place: make BUILD=/some/dir ..."
	[[ $KDIR/ != "$BUILD"/* ]] ||
		die "KDIR=$KDIR is inside the build folder $BUILD, which this harness rewrites" \
			"give a tree of your own"
}

# Sets BUILD, BASE (the pristine kernel) and all places below BUILD.
set_paths() {
	BUILD=$(realpath -m -- "${BUILD:-$REPO/build}")
	check_build_path
	SUFFIX=
	BASE=$BUILD/$SOURCE_PACKAGE
	if [[ -n ${KDIR:-} ]]; then
		KDIR=$(realpath -m -- "$KDIR")
		check_kdir
		SUFFIX=-$(printf '%s' "$KDIR" | sha1sum | cut -c1-8)
		BASE=$KDIR
	fi
	TREE=$BUILD/linux${HARNESS_TREE:+-$HARNESS_TREE}$SUFFIX
	# shellcheck disable=SC2034 # used by the scripts that apply patches
	STAGE=$BUILD/stage$SUFFIX
	export BUILD KDIR
}

# Unpacks Debian's source package $1 into $BUILD, under a temporary name first: a
# folder of its name is a whole one.
unpack_source() {
	local tarball=/usr/src/$1.tar.xz identity

	[[ -f $tarball ]] ||
		die "$tarball is missing" "install Debian's $1, or give a tree: make KDIR=/path/to/linux ..."
	identity=$(stat -c '%s %Y' -- "$tarball")
	[[ $(cat -- "$BUILD/$1/.unpacked-from" 2>/dev/null) != "$identity" ]] || return 0
	step "unpack $tarball (1.7 GB)"
	rm -rf -- "$BUILD/unpack" "${BUILD:?}/$1"
	mkdir -- "$BUILD/unpack"
	tar -C "$BUILD/unpack" --no-same-owner -I 'xz -T0' -xf "$tarball" ||
		die "cannot unpack $tarball into $BUILD" "is the disk full, or the file damaged?"
	echo "$identity" >"$BUILD/unpack/$1/.unpacked-from"
	mv -- "$BUILD/unpack/$1" "$BUILD/"
	rm -rf -- "$BUILD/unpack"
}

# Two jobs in one build folder would pull the tree from under each other. The
# scripts that a job calls run under the job's own lock.
take_lock() {
	[[ -z ${HARNESS_LOCKED:-} ]] || return 0
	mkdir -p -- "$BUILD" || die "cannot create $BUILD" "give another place: make BUILD=/some/dir ..."
	exec 9>>"$BUILD/.lock" || die "cannot write to $BUILD" "give another place: make BUILD=/some/dir ..."
	flock -n 9 ||
		die "another job (process $(cat "$BUILD/.lock")) is using $BUILD" \
			"wait for its end, or give another place: make BUILD=/some/dir ..."
	echo $$ >"$BUILD/.lock"
	export HARNESS_LOCKED=1
}

# How every job starts.
begin() {
	set_paths
	take_lock
}

# How the jobs that build start: packages, room on the disk, patched tree. $1 is
# the job: tree, refresh, kunit, latency, find-holds, soak, find-loops, model, fuzz, mutants,
# bench, series, series-check, matrix or check.
prepare() {
	[[ -z ${HARNESS_PREPARED:-} ]] || return 0
	"$REPO/kunit/install-packages.sh" "$1"
	check_disk "$1"
	export HARNESS_PREPARED=1
	case $1 in kunit | check | refresh) "$REPO/kunit/make-tree.sh" >/dev/null ;; esac
}

# Megabytes which a folder that does not exist yet is going to take.
missing_mb() {
	[[ -e $1 ]] && echo 0 || echo "$2"
}

check_disk() {
	local need=300 have

	[[ -n ${KDIR:-} ]] || need=$((need + $(missing_mb "$BASE" 1700)))
	need=$((need + $(missing_mb "$TREE/.overlay-base" 1700)))
	case $1 in
	kunit | check) need=$((need + $(missing_mb "$BUILD/um$SUFFIX/vmlinux" 150))) ;;&
	latency | find-holds | soak | check)
		need=$((need + $(missing_mb "$BUILD/linux-latency$SUFFIX/.overlay-base" 1700)))
		;;&
	series | series-check | check)
		need=$((need + $(missing_mb "$BUILD/linux-series$SUFFIX/.overlay-base" 1700)))
		need=$((need + $(missing_mb "$BUILD/series-git$SUFFIX/refs/heads/base" 700)))
		;;&
	series-check | check)
		need=$((need + $(missing_mb "$BUILD/um-series$SUFFIX/vmlinux" 150)))
		need=$((need + $(missing_mb "$BUILD/series-gates$SUFFIX/gcc-plain" 100)))
		;;&
	latency | check) need=$((need + $(missing_mb "$BUILD/latency$SUFFIX/objects/vmlinux" 400))) ;;&
	find-holds) need=$((need + $(missing_mb "$BUILD/latency-holds$SUFFIX/objects/vmlinux" 400))) ;;
	soak) need=$((need + $(missing_mb "$BUILD/soak$SUFFIX/kcsan/objects/vmlinux" 1000))) ;;
	mutants) need=$((need + $(missing_mb "$BUILD/um-mutants$SUFFIX/vmlinux" 1900))) ;;&
	check)
		need=$((need + $(missing_mb "$BUILD/um-debug$SUFFIX/vmlinux" 300)))
		need=$((need + $(missing_mb "$BUILD/gates$SUFFIX-plain" 50)))
		;;
	esac
	have=$(($(df -Pk -- "$BUILD" | awk 'NR == 2 { print $4 }') / 1024))
	((have >= need)) ||
		die "$BUILD has $have MB free, make $1 needs $need MB" \
			"free some, or give another place: make BUILD=/some/dir ..."
}

# Reads `series` into PATCHES and, patch by patch, NEW_FILES: the whole new
# files of the same step, separated by blanks.
read_series() {
	local line number=0 word words

	PATCHES=()
	NEW_FILES=()
	[[ -s $SERIES_FILE ]] || die "$SERIES_FILE is missing or empty" "it lists the patches in order: <patch> [<new file>...]"
	while IFS= read -r line || [[ -n $line ]]; do
		number=$((number + 1))
		read -ra words <<<"${line%%#*}"
		((${#words[@]})) || continue
		[[ ${words[0]} == *.patch ]] || die "series, line $number: ${words[0]} is no .patch file"
		for word in "${words[@]}"; do
			[[ $word != /* && $word != *..* && -f $REPO/$word ]] ||
				die "series, line $number: there is no file $word in $REPO"
		done
		PATCHES+=("${words[0]}")
		NEW_FILES+=("${words[*]:1}")
	done <"$SERIES_FILE"
}

# All new files of the series, one per line.
new_files() {
	tr -s ' ' '\n' <<<"${NEW_FILES[*]}" | sed '/^$/d'
}

# The .kunitconfig files of the suites, the series' own and those the kernel has:
# <suite>.kunitconfig where two suites that do not need each other share a folder.
suite_configs() {
	local file suite

	while IFS= read -r file; do
		suite=${file%_kunit.c}.kunitconfig
		[[ -f $TREE/$suite ]] || suite=${file%/*}/.kunitconfig
		[[ ! -f $TREE/$suite ]] || echo "$suite"
	done < <(new_files | grep -E '(_kunit|-test)\.c$') | sort -u
}

# Git as if there were neither a repository around nor settings of the user's.
plain_git() {
	GIT_CEILING_DIRECTORIES=$BUILD:$(dirname -- "$BUILD") GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null git "$@"
}

# The kernel files that a patch changes.
patched_files() {
	plain_git -C "$BUILD" apply --numstat "$REPO/$1" | cut -f3
}

# The files the series touches: those that the tree has of it.
overlay_files() {
	cat -- "$TREE/.overlay-series"
}

# Where mainline differs from 6.12 a patch has another one beside it, with what of it
# does not apply there. That it does not apply is what decides; a suite applies
# everywhere, so it follows the code of its folder.
declare -A IS_MAINLINE=()

alternative_of() {
	echo "${1%.patch}.mainline.patch"
}

# Copies what a patch changes and the folder $2 does not have yet from the base.
copy_patched_files() {
	local files file

	files=$(patched_files "$1" 2>&1) || die "$1 is no valid patch: $files"
	while IFS= read -r file; do
		[[ ! -e $2/$file && -f $BASE/$file ]] || continue
		mkdir -p -- "$2/$(dirname -- "$file")"
		cp -p -- "$BASE/$file" "$2/$file"
	done <<<"$files"
}

# Applies what applies of patch $1 to the folder $2, file by file.
apply_files() {
	local files file

	files=$(patched_files "$1")
	while IFS= read -r file; do
		plain_git -C "$2" apply --include="$file" "$REPO/$1" 2>/dev/null || true
	done <<<"$files"
}

cannot_apply() {
	die "$1 does not apply to Linux $(kernel_version "$BASE") ($BASE):" "${2//$'\n'/$'\n'       }" \
		"nothing was changed; use a tree of Linux 6.12 or of mainline, or port the patch to this one"
}

# Applies patch $1 to the folder $2, to which it first copies what the patch
# changes and the folder does not have yet from the base kernel. Its new files have
# to be there.
apply_patch() {
	local patch=$1 stage=$2 folder=${1%/*} alternative log

	alternative=$(alternative_of "$patch")
	copy_patched_files "$patch" "$stage"
	if log=$(plain_git -C "$stage" apply "$REPO/$patch" 2>&1); then
		[[ -n ${IS_MAINLINE[$folder]:-} && -f $REPO/$alternative ]] || return 0
	else
		[[ -f $REPO/$alternative ]] || cannot_apply "$patch" "$log"
		IS_MAINLINE[$folder]=1
		apply_files "$patch" "$stage"
	fi
	copy_patched_files "$alternative" "$stage"
	log=$(plain_git -C "$stage" apply "$REPO/$alternative" 2>&1) || cannot_apply "$alternative" "$log"
}

# Adds the new files $1 (separated by blanks) of the series to the folder $2.
add_new_files() {
	local files file

	read -ra files <<<"$1"
	for file in "${files[@]}"; do
		[[ ! -e $BASE/$file ]] ||
			die "$file exists in Linux $(kernel_version "$BASE") ($BASE) already" \
				"does this tree have the series applied? give one without it"
		install -D -m 644 -- "$REPO/$file" "$2/$file"
	done
}

# Adds up what a part of the job counted; check.sh reads it.
report_counts() {
	[[ -z ${HARNESS_COUNTS:-} ]] || echo "$1 $2 $3" >"$HARNESS_COUNTS"
}
