#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Writes the series as it is posted, a cover letter and the patches, by git
# format-patch from commits on the base. VERSION=2 is a reroll, and its cover has
# the range-diff against version 1, which has to be in the repository still.
# "make-series.sh check" does so for check-series.sh, without leaving anything
# that could be posted if git does not know who posts.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=kunit/series/repo.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/repo.sh"

COVER=$REPO/cover-letter
# get_maintainer.pl judges by MAINTAINERS; the base has no history to look at.
GET_MAINTAINER=(perl scripts/get_maintainer.pl --no-git --no-git-fallback --no-rolestats)

read_version() {
	VERSION=${VERSION:-1}
	[[ $VERSION =~ ^[1-9][0-9]*$ ]] || die "VERSION=$VERSION is no number" "the first posting is VERSION=1, a reroll VERSION=2"
}

# What this version is compared with.
check_versions() {
	local previous=v$((VERSION - 1)) next=v$((VERSION + 1))

	! sgit rev-parse -q --verify "refs/heads/$next" >/dev/null ||
		die "there is a $next already, made after v$VERSION" "give VERSION=$((VERSION + 1)) to make it again"
	((VERSION == 1)) || sgit rev-parse -q --verify "refs/heads/$previous" >/dev/null ||
		die "VERSION=$VERSION needs $previous to compare with, and $SERIES_GIT does not have it" \
			"check out the commit of this repository that $previous was made of, run there" \
			"  make series VERSION=$((VERSION - 1)) BUILD=$BUILD${KDIR:+ KDIR=$KDIR}" \
			"and come back"
}

# The table of README whose first cell is $1, with its columns aligned, as a
# mail can have it.
print_table() {
	awk -F' *[|] *' -v title="$1" '
		!/^\|/ { on = 0 }
		/^\|/ && $2 == title { on = found = 1 }
		on && !/^\|---/ {
			rows++
			for (i = 2; i < NF; i++) {
				cell[rows, i] = rows == 1 && i == 2 ? "" : $i
				if (length(cell[rows, i]) > width[i])
					width[i] = length($i)
			}
			columns = NF
		}
		END {
			print title ":"
			for (row = 1; row <= rows; row++) {
				line = sprintf("%-" width[2] "s", cell[row, 2])
				for (i = 3; i < columns; i++)
					line = line sprintf("  %" width[i] "s", cell[row, i])
				print line
			}
			exit !found
		}' "$REPO/README.md"
}

# What the base is: its commit means something to others only if it is theirs.
print_base() {
	local origin=

	if is_kdir_repository; then
		echo "The base is Linux $(kernel_version "$BASE")."
	else
		[[ -n ${KDIR:-} ]] || origin=" as in Debian's $SOURCE_PACKAGE"
		echo "The base is Linux $(kernel_version "$BASE")$origin. The base-commit below is not public."
	fi
}

# The cover letter: the text with its tables.
write_cover() {
	local line

	while IFS= read -r line; do
		case $line in
		'@table '*) print_table "${line#@table }" || die "cover-letter: README.md has no table \"${line#@table }\"" ;;
		@base) print_base ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$COVER" >"$OUT/cover"
}

# Whoever has to see the series, apart from whoever posts it.
find_recipients() {
	local lists="--no-m --no-r"

	sgit format-patch -q -o "$OUT/commits" "$BASE_COMMIT..HEAD"
	cd -- "$SERIES_TREE"
	"${GET_MAINTAINER[@]}" --no-l "$OUT"/commits/*.patch | grep -vxF -- "$POSTER" >"$OUT/to" ||
		die "get_maintainer.pl names no maintainer of what the series touches" "see MAINTAINERS in $SERIES_TREE"
	# shellcheck disable=SC2086 # two options
	"${GET_MAINTAINER[@]}" $lists "$OUT"/commits/*.patch >"$OUT/cc"
	cd -- "$REPO"
}

save_version() {
	local former

	former=$(sgit rev-parse -q --verify "refs/heads/v$VERSION") || true
	[[ -z $former || $former == "$(sgit rev-parse HEAD)" ]] ||
		echo "v$VERSION differs from the one that was made before, which is v$VERSION@{1} in $SERIES_GIT;" \
			"if that was posted, this should have been VERSION=$((VERSION + 1))" >&2
	sgit update-ref -m "make series" "refs/heads/v$VERSION" HEAD
	sgit update-ref "refs/heads/v$VERSION-base" "$BASE_COMMIT"
}

# $1 is the folder that gets the mails.
format_series() {
	local options=(-q -o "$1" --cover-letter --cover-from-description=subject --base="$BASE_COMMIT" --numbered --notes)
	local previous=v$((VERSION - 1)) address

	((VERSION == 1)) || options+=(-v "$VERSION" --range-diff="$previous-base..$previous")
	while IFS= read -r address; do options+=(--to="$address"); done <"$OUT/to"
	while IFS= read -r address; do options+=(--cc="$address"); done <"$OUT/cc"
	rm -rf -- "${1:?}"
	sgit checkout -q -B posting
	sgit config branch.posting.description "$(cat -- "$OUT/cover")"
	sgit format-patch "${options[@]}" "$BASE_COMMIT..posting"
	sgit checkout -q --detach
	sgit branch -q -D posting
}

main() {
	local folder

	[[ ${1:-} != check ]] || VERSION=1
	read_version
	begin
	set_series_paths
	OUT=$BUILD/series-tmp$SUFFIX
	trap 'rm -rf -- "$OUT" "$BUILD"/series-message* "$BUILD/series-none"' EXIT
	folder=$SERIES_OUT
	if ! find_poster; then
		[[ ${1:-} == check ]] ||
			die "git does not know who you are, and a patch has to be signed off:" \
				"git config --global user.name 'Your Name'" "git config --global user.email you@example.org"
		POSTER=$STAND_IN
	fi
	use_poster
	read_series
	prepare series
	rm -rf -- "$OUT"
	mkdir -p -- "$OUT"
	prepare_repository
	[[ ${1:-} == check ]] || check_versions
	commit_series
	write_cover
	find_recipients
	if [[ ${1:-} == check ]]; then
		folder=$SERIES_OUT-check
		printf '%s\n' "$POSTER" >"$BUILD/series-poster"
		sgit update-ref refs/heads/check HEAD
		sgit update-ref refs/heads/check-base "$BASE_COMMIT"
	else
		save_version
	fi
	format_series "$folder"
	step "done: posted by $POSTER; to send: git send-email $folder/*.patch"
	ls -- "$folder"/*.patch
}

main "$@"
