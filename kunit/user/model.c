// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the real bounded_iter with the reference in all small worlds.
 *
 * A world is a bound, a clock to begin with, and what happens then: each look at
 * the clock finds that it made one of a few steps, the gate is open or shut when it
 * is asked for, and before each call there may be a restart. Looks, shut gates and
 * restarts are events; the length of a world is the number of its events.
 *
 *	model <events>		all worlds up to that length
 *	model -t <seconds>	... up to the length that takes no longer
 *
 * The shortest world in which the two differ is printed as a KUnit case.
 */
#include <linux/bounded_iter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "reference.h"

static const s64 steps[] = { 0, 1, 2, -3, 1LL << 40, INT64_MIN };
static const u64 clocks[] = { 0, UINT64_MAX - 2 };
static const u64 budgets[] = { 0, 1, 2, 3, 4, 5, 6, UINT64_MAX };

/* That many looks see a clock that stands still, and count as some events. */
#define FROZEN		(REFERENCE_DEAD - 3)
#define FROZEN_EVENTS	3

enum kind { CALL, RESTART, FREEZE };

struct event {
	enum kind kind;
	u64 now;
	bool resched;
	bool expected;
};

#define MAX_PATH 256
#define NR(array) ((int)(sizeof(array) / sizeof(*(array))))

static struct event path[MAX_PATH];
static unsigned long long worlds;

struct state {
	struct bounded_iter bi;
	struct reference ref;
	u64 now;
	int depth;
	int stopped;
	bool froze;
};

static void print_call(const struct event *e)
{
	printf("\tmock->now = %lluULL;\n", (unsigned long long)e->now);
	printf("\tmock->resched_from = %s;\n", e->resched ? "1" : "0");
	printf("\tKUNIT_EXPECT_EQ(test, bounded_iter_expired%s(&bi), %s);\n",
	       BH ? "_bh" : "", e->expected ? "true" : "false");
}

static void print_case(const struct state *s)
{
	int i;

	printf("static void differs_from_the_reference(struct kunit *test)\n{\n");
	printf("\tstruct kunit_bounded_iter *mock = test->priv;\n");
	printf("\tDEFINE_BOUNDED_ITER%s(bi, %u, %lluULL);\n",
	       s->ref.gate ? "_RESCHED" : "", s->ref.batch,
	       (unsigned long long)s->ref.budget);
	printf("%s\n", s->froze ? "\tint i;\n" : "");
	for (i = 0; i < s->depth; i++) {
		const struct event *e = &path[i];

		if (e->kind == RESTART)
			printf("\tbounded_iter_restart(&bi);\n");
		else if (e->kind == CALL)
			print_call(e);
		else
			printf("\tfor (i = 0; i < %u; i++)\n"
			       "\t\tKUNIT_EXPECT_FALSE(test, bounded_iter_expired(&bi));\n",
			       FROZEN * s->ref.batch);
	}
	printf("}\n");
}

/* One call of both; the state after it is in @s. */
static void call(struct state *s, u64 now, bool resched)
{
	struct world reference = { .now = now, .resched = resched };
	bool expected, got;

	real = reference;
	expected = reference_expired(&s->ref, &reference);
	got = BH ? bounded_iter_expired_bh(&s->bi) :
		   bounded_iter_expired(&s->bi);
	s->stopped = expected ? s->stopped + 1 : 0;
	if (s->depth < MAX_PATH)
		path[s->depth++] = (struct event) { CALL, now, resched, expected };
	if (got == expected &&
	    bounded_iter_truncated(&s->bi) == (!PREEMPT_RT && s->ref.stopped) &&
	    same_looks(&real, &reference))
		return;
	print_case(s);
	printf("/* expected %d, looks %llu, asked %llu, interrupts %llu; "
	       "got %d, %llu, %llu, %llu, truncated %d */\n",
	       expected, (unsigned long long)reference.looks,
	       (unsigned long long)reference.asked,
	       (unsigned long long)reference.asserted, got,
	       (unsigned long long)real.looks, (unsigned long long)real.asked,
	       (unsigned long long)real.asserted,
	       bounded_iter_truncated(&s->bi));
	exit(1);
}

static void walk(const struct state *from, int events);

/* A call, in each way in which what it looks at can have changed. */
static void walk_call(const struct state *from, int events)
{
	bool looked = true, asked = true;
	int resched, i;

	for (resched = 0; resched < 2 && asked; resched++) {
		looked = true;
		for (i = 0; i < NR(steps) && looked; i++) {
			u64 now = from->now + steps[i];
			struct state s = *from;

			call(&s, now, resched);
			looked = real.looks;
			asked = real.asked;
			if (looked)
				s.now = now;
			walk(&s, events - looked - (asked && !looked));
		}
	}
}

static void walk_restart(const struct state *from, int events)
{
	struct state s = *from;

	bounded_iter_restart(&s.bi);
	reference_start(&s.ref);
	s.stopped = 0;
	path[s.depth++] = (struct event) { .kind = RESTART };
	walk_call(&s, events - 1);
}

/* Where the clock has been seen, it stands still up to shortly before the end. */
static void walk_freeze(const struct state *from, int events)
{
	struct state s = *from;
	unsigned int i;

	s.froze = true;
	path[s.depth++] = (struct event) { .kind = FREEZE };
	for (i = 0; i < FROZEN * s.ref.batch; i++) {
		int depth = s.depth;

		call(&s, s.now, true);
		s.depth = depth;
	}
	walk(&s, events - FROZEN_EVENTS);
}

static void walk(const struct state *from, int events)
{
	if (events <= 0 || from->depth > MAX_PATH - 8) {
		worlds++;
		return;
	}
	walk_restart(from, events);
	/* More calls of one that has stopped would be the same for ever. */
	if (from->stopped > 3) {
		worlds++;
		return;
	}
	walk_call(from, events);
	if (events > FROZEN_EVENTS && from->ref.seen == 1 && !from->froze &&
	    !from->ref.stopped)
		walk_freeze(from, events);
}

static void walk_bound(unsigned int batch, u64 budget, bool gate, int events)
{
	DEFINE_BOUNDED_ITER(timed, batch, budget);
	DEFINE_BOUNDED_ITER_RESCHED(gated, batch, budget);
	struct state s = { .bi = gate ? gated : timed };
	int i;

	for (i = 0; i < NR(clocks); i++) {
		reference_init(&s.ref, batch, budget, gate);
		s.now = clocks[i];
		walk_call(&s, events);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void walk_all(int events)
{
	unsigned int batch;
	int gate, i;

	worlds = 0;
	for (batch = 0; batch <= 4; batch++)
		for (i = 0; i < NR(budgets); i++)
			for (gate = 0; gate < 2; gate++)
				walk_bound(batch, budgets[i], gate, events);
}

/* On PREEMPT_RT nothing is ever bounded but sections with bottom halves off. */
static int walk_rt(void)
{
	DEFINE_BOUNDED_ITER_RESCHED(bi, 1, 0);
	struct state s = { .bi = bi };
	int i;

	reference_init(&s.ref, 1, 0, true);
	for (i = 0; i < 100; i++)
		call(&s, i, true);
	printf("PREEMPT_RT: no difference\n");
	return 0;
}

int main(int argc, char **argv)
{
	bool timed = argc == 3 && !strcmp(argv[1], "-t");
	double limit = timed ? atof(argv[2]) : 1e9;
	int events, most = timed ? 100 : argc == 2 ? atoi(argv[1]) : 0;
	double begin = seconds(), before = 0, now = 0;

	if (most < 1) {
		fprintf(stderr, "usage: %s <events> | -t <seconds>\n", argv[0]);
		return 2;
	}
	if (PREEMPT_RT && !BH)
		return walk_rt();
	for (events = 1; events <= most; events++) {
		/* Each length takes some times longer than the one before. */
		if (events > 3 && now + (now - before) * 8 > limit)
			break;
		before = now;
		walk_all(events);
		now = seconds() - begin;
		printf("%llu worlds of %d events, %.1f s: no difference\n",
		       worlds, events, now);
		fflush(stdout);
	}
	return 0;
}
