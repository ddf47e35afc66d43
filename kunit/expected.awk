# SPDX-License-Identifier: GPL-2.0
# Lists what the C sources of the suites declare: "<suite> <case>" per line.
# Reads whole files; needs no more than POSIX awk.

# The first argument of the macro call or the value that starts at text[0].
function word(text) {
	sub(/^[ \t\n(="]+/, "", text)
	match(text, /^[A-Za-z0-9_.-]+/)
	return substr(text, 1, RLENGTH)
}

function strip_comments(text,	out, from, to) {
	gsub(/\/\/[^\n]*/, "", text)
	while ((from = index(text, "/*")) > 0) {
		out = out substr(text, 1, from - 1) " "
		text = substr(text, from + 2)
		to = index(text, "*/")
		text = to ? substr(text, to + 2) : ""
	}
	return out text
}

# The cases of every array of cases, then the array of every suite.
function scan(text,	array, suite, token) {
	while (match(text, /struct kunit_case +[A-Za-z0-9_]+ *\[|KUNIT_CASE[A-Z_]*[ \t\n]*\(|struct kunit_suite +[A-Za-z0-9_]+ *=|[.]name *=|[.]test_cases *=/)) {
		token = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		if (token ~ /^struct kunit_case/) {
			sub(/^struct kunit_case +/, "", token)
			array = word(token)
			suite = ""
		} else if (token ~ /^KUNIT_CASE/) {
			if (array != "")
				cases[array] = cases[array] " " word(text)
		} else if (token ~ /^struct kunit_suite/) {
			array = ""
			suite = "?"
		} else if (suite != "" && token ~ /^[.]name/) {
			suite = word(text)
		} else if (suite != "" && token ~ /^[.]test_cases/) {
			arrays[suite] = word(text)
		}
	}
}

FNR == 1 && NR > 1 { scan(strip_comments(all)); all = "" }
{ all = all $0 "\n" }

END {
	scan(strip_comments(all))
	for (suite in arrays) {
		n = split(cases[arrays[suite]], names, " ")
		for (i = 1; i <= n; i++)
			print suite, names[i]
	}
}
