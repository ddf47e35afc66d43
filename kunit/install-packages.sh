#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the Debian packages of kunit/packages that are missing.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# The packages that the job $1 needs; the kernel source only if the user has none.
needed_packages() {
	awk -v job="$1" '/^#/ || NF == 0 { next }
		{ needed = NF == 1 || (job == "check" && $2 != "matrix"); for (i = 2; i <= NF; i++) needed = needed || $i == job }
		needed { print $1 }' "$REPO/kunit/packages" |
		if [[ -n ${KDIR:-} ]]; then grep -v '^linux-source-'; else cat; fi
}

is_installed() {
	[[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Names what apt could not install, as its own message is often about another
# package.
explain_apt_failure() {
	local package unknown=()

	for package in "$@"; do
		[[ -n $(apt-cache show --no-all-versions "$package" 2>/dev/null) ]] || unknown+=("$package")
	done
	((${#unknown[@]})) ||
		die "apt-get could not install: $*" "see its messages above; is there a network and room on the disk?"
	die "apt does not know the package(s): ${unknown[*]}" \
		"all are in Debian 12 (bookworm), linux-source-6.12 in its security suite:" \
		"add bookworm and bookworm-security (component main) to apt's sources and try again," \
		"or, for the kernel source only, use a tree of your own: make KDIR=/path/to/linux ..."
}

install_missing() {
	local apt=(apt-get install -y --no-install-recommends)

	if ((EUID != 0)); then
		die "packages are missing and only root can install them:" \
			"sudo apt-get update && sudo ${apt[*]} $*"
	fi
	step "install packages: $*"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q >&2 || echo "apt-get update failed; trying with what apt knows" >&2
	"${apt[@]}" -q "$@" >&2 || explain_apt_failure "$@"
}

main() {
	local package missing=()

	if ! command -v dpkg-query >/dev/null; then
		echo "no Debian here: taking it that the equivalents of these are installed:" >&2
		needed_packages "$1" | paste -sd' ' >&2
		return
	fi
	while IFS= read -r package; do
		is_installed "$package" || missing+=("$package")
	done < <(needed_packages "$1")
	((${#missing[@]} == 0)) || install_missing "${missing[@]}"
}

main "$@"
