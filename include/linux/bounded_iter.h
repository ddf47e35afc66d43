/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bound the time of a loop that runs with interrupts off or under a spinlock.
 *
 * See lib/bounded_iter.c for the theory of operation and
 * Documentation/core-api/bounded_iter.rst for how to convert a loop.
 */
#ifndef _LINUX_BOUNDED_ITER_H
#define _LINUX_BOUNDED_ITER_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * The batch to take unless measured otherwise. A cold list item was seen to
 * take 165 ns, so this is 5 us of overshoot for one read of the clock. It is
 * also SWAP_CLUSTER_MAX: reclaim that meets no obstacle never reads the clock.
 */
#define BOUNDED_ITER_BATCH	32U

/*
 * The bound of one critical section, on the stack of whoever takes the lock.
 * @left: items until the next look at the clock, plus one
 * @stuck: looks in a row that saw the clock at @last, 0 before the first one
 */
struct bounded_iter {
	unsigned int	left;
	unsigned int	batch;
	unsigned int	stuck;
	bool		resched;
	bool		expired;
	u64		budget;
	u64		start;
	u64		last;
};

/* Internal helper of the definitions below. Do not invoke directly. */
static __always_inline struct bounded_iter
__bounded_iter_init(unsigned int batch, u64 budget_ns, bool resched)
{
	batch = batch ?: 1;

	return (struct bounded_iter) {
		.left = batch + 1,
		.batch = batch,
		.resched = resched,
		.budget = budget_ns,
	};
}

/**
 * DEFINE_BOUNDED_ITER() - define a bound that stops once the time is spent
 * @name: name of the variable
 * @batch: items between two looks at the clock, 1 to UINT_MAX (0 counts as 1)
 * @budget_ns: time the loop may take from its first look at the clock, in ns
 */
#define DEFINE_BOUNDED_ITER(name, batch, budget_ns) \
	struct bounded_iter name = __bounded_iter_init(batch, budget_ns, false)

/**
 * DEFINE_BOUNDED_ITER_RESCHED() - ... and a preemption is due
 * @name: name of the variable
 * @batch: items between two looks at the clock, 1 to UINT_MAX (0 counts as 1)
 * @budget_ns: time the loop may take from its first look at the clock, in ns
 *
 * While nothing waits for the CPU, the loop goes on beyond the budget. Not for
 * loops with interrupts off: the tick that would set the flag cannot run there.
 * CONFIG_PROVE_LOCKING warns about that, once.
 */
#define DEFINE_BOUNDED_ITER_RESCHED(name, batch, budget_ns) \
	struct bounded_iter name = __bounded_iter_init(batch, budget_ns, true)

bool bounded_iter_expired_slowpath(struct bounded_iter *bi);

/* Internal helper of the two functions below. Do not invoke directly. */
static __always_inline __must_check bool
__bounded_iter_expired(struct bounded_iter *bi)
{
	return !likely(--bi->left) && bounded_iter_expired_slowpath(bi);
}

/**
 * bounded_iter_expired() - is it time to leave the loop?
 * @bi: the bound
 *
 * Call it once for each item, in the loop condition, before the item is
 * touched: no ``continue`` can walk past it there, and the item that was not
 * handled is still on the list. A %true is sticky until bounded_iter_restart().
 *
 * It admits a batch of items without a look at the clock, so there is progress
 * whatever the clock says. Then it looks at most once a batch, and stops at the
 * first look that finds the budget spent, never before. An item costs a
 * decrement and a branch.
 *
 * Context: Any, but a section that can migrate sees local_clock() step.
 * Return: %true when the loop has to stop, %false when it may take an item.
 *         Always %false on PREEMPT_RT, where a spinlock_t can be preempted.
 */
static __always_inline __must_check bool
bounded_iter_expired(struct bounded_iter *bi)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && __bounded_iter_expired(bi);
}

/**
 * bounded_iter_expired_bh() - is it time to turn bottom halves on again?
 * @bi: the bound
 *
 * bounded_iter_expired() for a section with bottom halves off. On PREEMPT_RT it
 * can be preempted as well, but all softirqs of the CPU wait for it there, so
 * this one bounds it there, too.
 *
 * Context: Any, but a section that can migrate sees local_clock() step.
 * Return: %true when the loop has to stop, %false when it may take an item.
 */
static __always_inline __must_check bool
bounded_iter_expired_bh(struct bounded_iter *bi)
{
	return __bounded_iter_expired(bi);
}

/**
 * bounded_iter_truncated() - was a loop told to stop?
 * @bi: the bound
 *
 * Context: Any. Costs a load.
 * Return: %true if bounded_iter_expired() said so since the last (re)start.
 *         Always %false on PREEMPT_RT.
 */
static inline bool bounded_iter_truncated(const struct bounded_iter *bi)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && bi->expired;
}

/**
 * bounded_iter_restart() - begin anew, after the lock was dropped
 * @bi: the bound
 *
 * Context: Any. Costs three stores.
 */
static inline void bounded_iter_restart(struct bounded_iter *bi)
{
	bi->left = bi->batch + 1;
	bi->stuck = 0;
	bi->expired = false;
}

#if IS_ENABLED(CONFIG_KUNIT)
u64 bounded_iter_clock(void);
bool bounded_iter_need_resched(void);
#endif

#endif /* _LINUX_BOUNDED_ITER_H */
