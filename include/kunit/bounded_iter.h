/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A clock and a need_resched() for KUnit tests of loops that are bounded by
 * <linux/bounded_iter.h>.
 */
#ifndef _KUNIT_BOUNDED_ITER_H
#define _KUNIT_BOUNDED_ITER_H

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <kunit/test-bug.h>
#include <linux/bounded_iter.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/smp.h>

/**
 * struct kunit_bounded_iter - what a bounded loop sees, and how often it looks
 * @now: what the next look at the clock sees, in ns
 * @step: added to @now after each look, in ns
 * @leap: added to @now after look number @leap_at on top of @step, in ns
 * @leap_at: 0 for never
 * @looks: at the clock, so far
 * @asked: need_resched(), so far
 * @resched_from: how many times need_resched() is asked until it says yes, 0
 *                for never
 * @waiter: woken by look number @wake_at and those after it, to run as soon as
 *          the loop lets it; see kunit_bounded_iter_waiter()
 * @wake_at: 0 for never
 * @woken: whether @waiter has something to do
 *
 * Has to be the first member of what test->priv points to.
 */
struct kunit_bounded_iter {
	u64 now;
	u64 step;
	u64 leap;
	unsigned int leap_at;
	unsigned int looks;
	unsigned int asked;
	unsigned int resched_from;
	struct task_struct *waiter;
	unsigned int wake_at;
	bool woken;
};

static u64 kunit_bounded_iter_clock(void)
{
	struct kunit_bounded_iter *mock = kunit_get_current_test()->priv;
	u64 now = mock->now;

	mock->looks++;
	mock->now += mock->step;
	if (mock->looks == mock->leap_at)
		mock->now += mock->leap;
	if (mock->wake_at && mock->looks >= mock->wake_at) {
		mock->woken = true;
		wake_up_process(mock->waiter);
	}
	return now;
}

static bool kunit_bounded_iter_need_resched(void)
{
	struct kunit_bounded_iter *mock = kunit_get_current_test()->priv;

	mock->asked++;
	return mock->resched_from && mock->asked >= mock->resched_from;
}

/**
 * kunit_bounded_iter_init() - have the loops of this test see the mock
 * @test: the test, with test->priv pointing to &struct kunit_bounded_iter
 */
static inline void kunit_bounded_iter_init(struct kunit *test)
{
	kunit_activate_static_stub(test, bounded_iter_clock,
				   kunit_bounded_iter_clock);
	kunit_activate_static_stub(test, bounded_iter_need_resched,
				   kunit_bounded_iter_need_resched);
}

/**
 * kunit_bounded_iter_skip_on_rt() - skip a test of what PREEMPT_RT does not bound
 * @test: the test of a loop that asks bounded_iter_expired()
 */
static inline void kunit_bounded_iter_skip_on_rt(struct kunit *test)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "not bounded on PREEMPT_RT");
}

static inline void kunit_bounded_iter_stop_waiter(void *task)
{
	kthread_stop_put(task);
	migrate_enable();
}

/**
 * kunit_bounded_iter_waiter() - have a thread wait for the CPU the loop is on
 * @test: the test, after kunit_bounded_iter_init()
 * @fn: the thread, which calls kunit_bounded_iter_wait() before each thing it
 *      does; its argument is test->priv
 *
 * The thread outranks the test and can run nowhere else, so it runs exactly
 * when the loop offers the CPU, and what it finds is what others find then:
 * which locks are free, and what is on the lists. It must not use @test.
 */
static inline void kunit_bounded_iter_waiter(struct kunit *test,
					     int (*fn)(void *))
{
	struct kunit_bounded_iter *mock = test->priv;
	struct task_struct *task;

	task = kthread_create(fn, test->priv, "kunit_bounded_iter");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	sched_set_fifo(task);
	migrate_disable();
	kthread_bind(task, smp_processor_id());
	mock->waiter = task;
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test,
						  kunit_bounded_iter_stop_waiter,
						  task));
}

/**
 * kunit_bounded_iter_wait() - in the waiter, wait for a look at the clock
 * @mock: the mock
 *
 * Return: %false when the test is over.
 */
static inline bool kunit_bounded_iter_wait(struct kunit_bounded_iter *mock)
{
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (mock->woken) {
			__set_current_state(TASK_RUNNING);
			mock->woken = false;
			return true;
		}
		if (!kthread_should_stop())
			schedule();
	}
	__set_current_state(TASK_RUNNING);
	return false;
}

#endif /* _KUNIT_BOUNDED_ITER_H */
