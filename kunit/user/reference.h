/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What bounded_iter promises (Documentation/core-api/bounded_iter.rst), as plain
 * as possible: which calls look at the clock follows from their number alone, and
 * each answer from what was seen since the start.
 */
#ifndef _REFERENCE_H
#define _REFERENCE_H

#include <linux/types.h>

/* Whether the loop has bottom halves off, and asks bounded_iter_expired_bh(). */
#ifndef BH
#define BH	0
#endif

/* A clock that shows the same time so often in a row is dead. */
#define REFERENCE_DEAD	1024

/*
 * What the loop under test and the reference see, how often they looked, and how
 * often they made sure that interrupts are on.
 */
struct world {
	u64 now;
	bool resched;
	u64 looks;
	u64 asked;
	u64 asserted;
};

/* The kernel's functions that the helper calls, for the loop under test. */
static struct world real;

u64 local_clock(void)
{
	real.looks++;
	return real.now;
}

bool need_resched(void)
{
	real.asked++;
	return real.resched;
}

void lockdep_assert_irqs_enabled(void)
{
	real.asserted++;
}

static inline bool same_looks(const struct world *a, const struct world *b)
{
	return a->looks == b->looks && a->asked == b->asked &&
	       a->asserted == b->asserted;
}

/*
 * @calls: since the start, the first is number 0
 * @seen: looks at the clock since the start
 * @same: of these, how many at the end saw @last
 */
struct reference {
	unsigned int batch;
	u64 budget;
	bool gate;

	u64 calls;
	u64 seen;
	u64 begin;
	u64 last;
	u64 same;
	bool stopped;
};

static inline void reference_start(struct reference *ref)
{
	ref->calls = 0;
	ref->seen = 0;
	ref->same = 0;
	ref->stopped = false;
}

static inline void reference_init(struct reference *ref, unsigned int batch,
				  u64 budget, bool gate)
{
	ref->batch = batch ? batch : 1;
	ref->budget = budget;
	ref->gate = gate;
	ref->begin = 0;
	ref->last = 0;
	reference_start(ref);
}

static inline bool reference_expired(struct reference *ref, struct world *world)
{
	u64 call = ref->calls++;

	/* Where the lock can be preempted and nobody else waits nothing is bounded. */
	if (PREEMPT_RT && !BH)
		return false;
	/* Told to stop, it stays so, and nothing is looked at. */
	if (ref->stopped)
		return true;
	/* A whole batch is granted each time, the first one unseen. */
	if (call == 0 || call % ref->batch != 0)
		return false;
	/* With interrupts off a gate would never open. */
	if (ref->gate)
		world->asserted++;
	/* Once the time runs, the gate comes before the clock. */
	if (ref->gate && ref->seen > 0) {
		world->asked++;
		if (!world->resched)
			return false;
	}

	world->looks++;
	ref->seen++;
	ref->same = ref->seen > 1 && world->now == ref->last ? ref->same + 1 : 1;
	ref->last = world->now;
	/* A time before the beginning is a new beginning. */
	if (ref->seen == 1 || (s64)(world->now - ref->begin) < 0)
		ref->begin = world->now;
	ref->stopped = world->now - ref->begin >= ref->budget ||
		       ref->same >= REFERENCE_DEAD;
	return ref->stopped;
}

#endif /* _REFERENCE_H */
