#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prints the jobs and variables a Makefile documents in its `##` comments.
set -euo pipefail

awk '
	/^[a-z-]+:.*## / {
		name = $0; sub(/:.*/, "", name)
		text = $0; sub(/.*## /, "", text)
		printf "  make %-12s %s\n", name, text
	}
	/^## / { sub(/^## /, ""); print ($0 ~ /:$/ ? "\n" : "  ") $0 }
' "$1"
