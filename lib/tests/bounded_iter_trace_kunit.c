// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test for the tracepoint of bounded_iter: what it says of a walk that is
 * cut short, and that it says so once.
 */
#include <kunit/bounded_iter.h>
#include <linux/bounded_iter.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <trace/events/bounded_iter.h>

#define BATCH	32U

struct trace_ctx {
	struct kunit_bounded_iter mock;
	struct task_struct *task;

	/* of the last event */
	unsigned int events;
	unsigned long caller;
	u64 items;
	u64 spent;
	u64 budget;
};

static void trace_probe(void *data, unsigned long caller, u64 items, u64 spent,
			u64 budget)
{
	struct trace_ctx *ctx = data;

	if (current != ctx->task)
		return;
	ctx->events++;
	ctx->caller = caller;
	ctx->items = items;
	ctx->spent = spent;
	ctx->budget = budget;
}

static void unregister_trace_probe(void *ctx)
{
	unregister_trace_bounded_iter_expired(trace_probe, ctx);
	tracepoint_synchronize_unregister();
}

static int bounded_iter_trace_test_init(struct kunit *test)
{
	struct trace_ctx *ctx;

	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "needs tracepoints");

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->task = current;
	ctx->mock.now = NSEC_PER_SEC;
	kunit_bounded_iter_init(test);
	KUNIT_ASSERT_EQ(test, 0,
			register_trace_bounded_iter_expired(trace_probe, ctx));
	return kunit_add_action_or_reset(test, unregister_trace_probe, ctx);
}

/* Its address is that of the loop which the events name. */
static noinline unsigned int walk(struct bounded_iter *bi, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && !bounded_iter_expired_bh(bi))
		n++;
	return n;
}

/*
 * That the caller is in walk() is one unsigned comparison: objtool has no address
 * behind the function to complain of then.
 */
static void expect_event(struct kunit *test, unsigned int number, u64 items,
			 u64 spent, u64 budget)
{
	struct trace_ctx *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, ctx->events, number);
	KUNIT_EXPECT_LT(test, ctx->caller - (unsigned long)walk, 256);
	KUNIT_EXPECT_EQ(test, ctx->items, items);
	KUNIT_EXPECT_EQ(test, ctx->spent, spent);
	KUNIT_EXPECT_EQ(test, ctx->budget, budget);
}

static void walk_that_is_cut_short(struct kunit *test)
{
	struct trace_ctx *ctx = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 100);

	ctx->mock.step = 30;
	KUNIT_EXPECT_EQ(test, walk(&bi, UINT_MAX), 5 * BATCH);
	expect_event(test, 1, 5 * BATCH, 120, 100);
	/* It stays cut short without another word. */
	KUNIT_EXPECT_EQ(test, walk(&bi, UINT_MAX), 0);
	expect_event(test, 1, 5 * BATCH, 120, 100);
}

static void walk_that_is_not(struct kunit *test)
{
	struct trace_ctx *ctx = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 100);

	ctx->mock.step = 30;
	KUNIT_EXPECT_EQ(test, walk(&bi, 5 * BATCH), 5 * BATCH);
	KUNIT_EXPECT_EQ(test, ctx->events, 0);
}

static void items_since_the_restart(struct kunit *test)
{
	struct trace_ctx *ctx = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 100);

	ctx->mock.step = 30;
	walk(&bi, 3 * BATCH + 5);
	bounded_iter_restart(&bi);
	ctx->mock.step = 50;
	KUNIT_EXPECT_EQ(test, walk(&bi, UINT_MAX), 3 * BATCH);
	expect_event(test, 1, 3 * BATCH, 100, 100);
}

/* What the gate let pass without a look at the clock counts as well. */
static void items_behind_a_shut_gate(struct kunit *test)
{
	struct trace_ctx *ctx = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BATCH, 100);

	ctx->mock.step = 100;
	ctx->mock.resched_from = 10;
	KUNIT_EXPECT_EQ(test, walk(&bi, UINT_MAX), 11 * BATCH);
	expect_event(test, 1, 11 * BATCH, 100, 100);
}

/* Nothing was spent: so it says that the clock is dead. */
static void clock_is_dead(struct kunit *test)
{
	DEFINE_BOUNDED_ITER(bi, BATCH, 100);

	KUNIT_EXPECT_EQ(test, walk(&bi, UINT_MAX), 1024 * BATCH);
	expect_event(test, 1, 1024 * BATCH, 0, 100);
}

static struct kunit_case bounded_iter_trace_test_cases[] = {
	KUNIT_CASE(walk_that_is_cut_short),
	KUNIT_CASE(walk_that_is_not),
	KUNIT_CASE(items_since_the_restart),
	KUNIT_CASE(items_behind_a_shut_gate),
	KUNIT_CASE(clock_is_dead),
	{}
};

static struct kunit_suite bounded_iter_trace_test_suite = {
	.name = "bounded_iter_trace",
	.init = bounded_iter_trace_test_init,
	.test_cases = bounded_iter_trace_test_cases,
};

kunit_test_suite(bounded_iter_trace_test_suite);

MODULE_DESCRIPTION("KUnit test for the tracepoint of bounded_iter");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_LICENSE("GPL");
