# SPDX-License-Identifier: GPL-2.0
# Reads a kernel log and lists the KUnit results in it, one per line:
#	suite <suite> - <passed|failed|skipped>
#	case <suite> <case> <passed|failed|skipped>
# A parameterised case is one case. Needs no more than POSIX awk.

{ sub(/\r$/, ""); sub(/^\[ *[0-9]+[.][0-9]+\] /, "") }

# Four blanks more for each level: suites, cases, parameters.
/^    # Subtest: / { suite = $0; sub(/^ *# Subtest: /, "", suite) }

/^(    )?(not )?ok [0-9]+ / {
	kind = /^ / ? "case" : "suite"
	status = /^ *not/ ? "failed" : (/ # SKIP/ ? "skipped" : "passed")
	name = $0
	sub(/^ *(not )?ok [0-9]+ (- )?/, "", name)
	sub(/ # SKIP.*/, "", name)
	if (kind == "suite")
		print "suite", name, "-", status
	else
		print "case", suite, name, status
}
