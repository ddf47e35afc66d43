// SPDX-License-Identifier: GPL-2.0
/*
 * The tracing of `make find-holds`: all that keeps interrupts (MODE=irq) or
 * preemption (MODE=preempt) off for more than 10 us, whoever it is. One of them a
 * boot: what is traced takes time, and must not be inside of what is measured.
 *
 *	# found <start> <end> <count> <over 0.25 ms> <over 1 ms> <longest ns>
 *		<callers of the end of the longest, as far as it is over 0.25 ms>
 *	# cut <caller> <count>			(walks that a bound ended)
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "guest.h"

#define LONG_NS	250000

static struct found {
	const char *start, *end;
	char *callers;
	long count, over_250us, over_1ms;
	long long longest;
} found[4096];

static int nr_found;

bool is_finder(void)
{
	return is("MODE", "irq") || is("MODE", "preempt");
}

void set_up_finder(void)
{
	char text[64];

	read_symbols();
	set(TRACING "buffer_size_kb", "65536");
	set(TRACING "synthetic_events",
	    "hold u64 ns; s32 start; s32 start_for; s32 end; s32 end_for");
	set(TRACING "synthetic_events", "idle u64 ns");
	set(EVENTS "synthetic/hold/filter", "ns > 10000");
	snprintf(text, sizeof(text), "stacktrace if ns > %d", LONG_NS);
	set(EVENTS "synthetic/hold/trigger", text);
}

/* Only a kernel with the series can have the tracepoint. */
void start_cuts(void)
{
	if (!access(CUT, F_OK))
		set(CUT "trigger", "hist:keys=caller.sym");
}

/*
 * The task that goes to sleep disabled preemption and another one enables it: the
 * time in between is idle. What a trigger subtracts is consumed. Setting a trigger
 * sleeps, so that the one that finds holds comes last.
 */
void start_finder(void)
{
	const char *kind = getenv("MODE");
	char path[128], text[256];

	start_cuts();
	set(EVENTS "synthetic/hold/enable", "1");
	snprintf(path, sizeof(path), EVENTS "preemptirq/%s_disable/trigger", kind);
	set(path, "hist:keys=common_cpu:t=common_timestamp,by=caller_offs,by_for=parent_offs");
	if (is("MODE", "preempt"))
		set(EVENTS "sched/sched_switch/trigger",
		    "hist:keys=common_cpu:ns=common_timestamp-$t:"
		    "onmatch(preemptirq.preempt_disable).idle($ns) if next_pid == 0");
	snprintf(path, sizeof(path), EVENTS "preemptirq/%s_enable/trigger", kind);
	snprintf(text, sizeof(text), "hist:keys=common_cpu:ns=common_timestamp-$t:"
		 "onmatch(preemptirq.%s_disable).hold($ns,$by,$by_for,caller_offs,parent_offs)",
		 kind);
	set(path, text);
}

/* Who called the lock's function; the preemption's events say so themselves. */
static const char *name(unsigned int by, unsigned int by_for)
{
	const char *symbol = symbol_at(by);

	if (is("MODE", "preempt") || !strncmp(symbol, "_raw_", 5) ||
	    !strcmp(symbol, "__lock_text_start"))
		return symbol_at(by_for);
	return symbol;
}

static struct found *add(long long ns, const char *start, const char *end)
{
	struct found *f;
	int i;

	for (i = 0; i < nr_found; i++)
		if (found[i].start == start && found[i].end == end)
			break;
	if (i == nr_found) {
		if (nr_found == 4096)
			step(false, "room for another kind of hold");
		found[nr_found++] = (struct found) { .start = start, .end = end };
	}
	f = &found[i];
	f->count++;
	f->over_250us += ns > LONG_NS;
	f->over_1ms += ns > 1000000;
	if (ns <= f->longest)
		return NULL;
	f->longest = ns;
	return f;
}

/*
 * Reads the stack that follows a hold and keeps the four functions above the one
 * that ended it. @line has the next line of another kind afterwards, if any.
 */
static char *read_callers(FILE *file, char *line, size_t size, const char *end)
{
	char text[1024] = "", frame[128];
	int nr = -1, length = 0;

	while (fgets(line, size, file) && sscanf(line, " => %127s", frame) == 1) {
		if (nr >= 0 && nr++ < 4)
			length += snprintf(text + length, sizeof(text) - length,
					   "%s%s", length ? "<" : "", frame);
		if (nr < 0 && !strcmp(frame, end))
			nr = 0;
	}
	return *text ? strdup(text) : NULL;
}

static void read_holds(FILE *file)
{
	unsigned int start, start_for, end, end_for;
	struct found *longest = NULL;
	char line[512];
	long long ns;

	while (fgets(line, sizeof(line), file)) {
		char *text = strstr(line, "hold: ns=");

		if (longest && strstr(line, "<stack trace>")) {
			free(longest->callers);
			longest->callers = read_callers(file, line, sizeof(line),
							longest->end);
			longest = NULL;
			text = strstr(line, "hold: ns=");
		}
		if (text && sscanf(text, "hold: ns=%lld start=%u start_for=%u end=%u end_for=%u",
				   &ns, &start, &start_for, &end, &end_for) == 5)
			longest = add(ns, name(start, start_for), name(end, end_for));
	}
}

/* How many events the trigger in the folder @path of events/ has seen. */
static long long hits(const char *path)
{
	char text[128], line[512];
	long long count, sum = 0;
	FILE *file;

	snprintf(text, sizeof(text), EVENTS "%s/hist", path);
	file = open_trace(text);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " Hits: %lld", &count) == 1)
			sum += count;
	fclose(file);
	return sum;
}

static long long lost_events(void)
{
	FILE *file = open_trace(TRACING "per_cpu/cpu0/stats");
	long long count, sum = 0;
	char line[128];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "overrun: %lld", &count) == 1 ||
		    sscanf(line, "dropped events: %lld", &count) == 1)
			sum += count;
	fclose(file);
	return sum;
}

void print_cuts(void)
{
	FILE *file;
	char line[512], caller[128];
	long long count;

	value("cuts_traced", !access(CUT, F_OK));
	if (access(CUT, F_OK))
		return;
	file = open_trace(CUT "hist");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "{ caller: [%*[^]]] %127s } hitcount: %lld",
			   caller, &count) == 2)
			printf("# cut %s %lld\n", caller, count);
	fclose(file);
}

void stop_finder(void)
{
	const char *kind = getenv("MODE");
	char path[64];
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "preemptirq/%s_disable", kind);
	value("disabled", hits(path));
	step(hits(path) > 0, "see %s turned off", kind);
	snprintf(path, sizeof(path), "preemptirq/%s_enable", kind);
	value("enabled", hits(path));
	step(hits(path) > 0, "see %s turned on", kind);
	step(!lost_events(), "lose no event");
	file = open_trace(TRACING "trace");
	read_holds(file);
	fclose(file);
	for (i = 0; i < nr_found; i++)
		printf("# found %s %s %ld %ld %ld %lld %s\n", found[i].start,
		       found[i].end, found[i].count, found[i].over_250us,
		       found[i].over_1ms, found[i].longest,
		       found[i].callers ? : "-");
	print_cuts();
	value("found", nr_found);
}
