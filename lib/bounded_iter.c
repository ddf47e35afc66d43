// SPDX-License-Identifier: GPL-2.0
/*
 * Bound the time of a loop that runs with interrupts off or under a spinlock.
 *
 * A list walk under a lock is bounded by the length of the list alone, and the
 * list can be long. Such a loop asks bounded_iter_expired() before each item.
 * A counter answers for the first batch of items; after that the clock is read
 * once a batch, and when the budget is spent the loop is told to stop. What
 * happens then is the caller's affair: the helper never unlocks and never
 * reschedules, and leaving the loop without doing either gains nothing.
 *
 * Why not ...
 * ===========
 *
 * cond_resched()? It cannot be called in these sections at all.
 *
 * A count? The cost of an item varies tenfold and more with the caches, the
 * machine and what is done to it. A count that is safe for the worst item is
 * far too small for the common one.
 *
 * jiffies? They stand still while interrupts are off on the CPU that keeps
 * time, and are 1 to 10 ms coarse when they do not.
 *
 * need_resched()? With interrupts off the tick cannot set it, and otherwise it
 * is set long before any time is spent. It tells whether to stop, not when.
 *
 * Theory of operation
 * ===================
 *
 * The first look at the clock is after the first batch: short walks, which are
 * most, do not pay for it. So a section is held for one batch, the budget and
 * one more batch at the worst.
 *
 * The clock is local_clock(): fine, cheap, usable anywhere. It can step back
 * when the caller migrates, so times are compared as signed differences, and a
 * time before the start is taken for a new start: the loop ends later by one
 * budget then, never earlier. And it can stand still: the generic sched_clock()
 * is jiffies, and an unstable one saturates a tick after the last tick. A clock
 * that shows the same time for BOUNDED_ITER_STUCK looks in a row is dead, and
 * the budget counts as spent.
 *
 * With the gate, the loop goes on until a preemption is due as well. That is
 * asked once a batch too, and the clock is read only if the answer is yes. To
 * ask for each item would end the walk a few microseconds earlier, and was seen
 * to make a walk over 40000 inodes 5 % slower.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/bounded_iter.h>
#include <linux/export.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

/* 32768 items in batches of 32: what mainline's isolate_lru_folios() may skip. */
#define BOUNDED_ITER_STUCK	1024

VISIBLE_IF_KUNIT u64 bounded_iter_clock(void)
{
	KUNIT_STATIC_STUB_REDIRECT(bounded_iter_clock);
	return local_clock();
}
EXPORT_SYMBOL_IF_KUNIT(bounded_iter_clock);

VISIBLE_IF_KUNIT bool bounded_iter_need_resched(void)
{
	KUNIT_STATIC_STUB_REDIRECT(bounded_iter_need_resched);
	return need_resched();
}
EXPORT_SYMBOL_IF_KUNIT(bounded_iter_need_resched);

/* Internal helper of bounded_iter_expired(). Do not invoke directly. */
bool bounded_iter_expired_slowpath(struct bounded_iter *bi)
{
	u64 now;

	if (bi->expired) {
		bi->left = 1;
		return true;
	}

	bi->left = bi->batch;
	if (bi->resched) {
		lockdep_assert_irqs_enabled();
		if (bi->stuck && !bounded_iter_need_resched())
			return false;
	}

	now = bounded_iter_clock();
	if (!bi->stuck || (s64)(now - bi->start) < 0)
		bi->start = now;
	bi->stuck = now == bi->last ? bi->stuck + 1 : 1;
	bi->last = now;
	bi->expired = now - bi->start >= bi->budget ||
		      bi->stuck >= BOUNDED_ITER_STUCK;
	if (bi->expired)
		bi->left = 1;

	return bi->expired;
}
EXPORT_SYMBOL_GPL(bounded_iter_expired_slowpath);
