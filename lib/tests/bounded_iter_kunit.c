// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test for bounded_iter.
 *
 * The clock and need_resched() are the test's own, so every result is exact:
 * how many items a walk is granted, and how often it looked at the clock.
 */
#include <kunit/bounded_iter.h>
#include <linux/bottom_half.h>
#include <linux/bounded_iter.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

#define BATCH	32U
#define STUCK	1024U

/* A walk that is not stopped ends here. */
#define ENDLESS	(4 * BATCH * STUCK)

static int bounded_iter_bh_test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct kunit_bounded_iter),
				   GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, test->priv);
	kunit_bounded_iter_init(test);
	return 0;
}

static int bounded_iter_test_init(struct kunit *test)
{
	kunit_bounded_iter_skip_on_rt(test);
	return bounded_iter_bh_test_init(test);
}

/* Walk up to @max items; returns how many were granted. */
static unsigned int walk(struct bounded_iter *bi, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && !bounded_iter_expired(bi))
		n++;
	return n;
}

struct batch_param {
	const char *desc;
	unsigned int batch;
};

static const struct batch_param batch_params[] = {
	{ "1", 1 },
	{ "2", 2 },
	{ "31", 31 },
	{ "32", 32 },
	{ "33", 33 },
	{ "1024", 1024 },
};

KUNIT_ARRAY_PARAM_DESC(batch, batch_params, desc);

/* G1, G4: the first batch is free, even with nothing to spend. */
static void first_batch_is_granted_unseen(struct kunit *test)
{
	const struct batch_param *param = test->param_value;
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, param->batch, 0);

	KUNIT_EXPECT_EQ(test, walk(&bi, param->batch), param->batch);
	KUNIT_EXPECT_EQ(test, mock->looks, 0);
	KUNIT_EXPECT_FALSE(test, bounded_iter_truncated(&bi));

	KUNIT_EXPECT_EQ(test, walk(&bi, 1), 0);
	KUNIT_EXPECT_EQ(test, mock->looks, 1);
	KUNIT_EXPECT_TRUE(test, bounded_iter_truncated(&bi));
}

/* G1: whatever the clock says, there is a batch after each start. */
static void progress_when_the_clock_leaps(struct kunit *test)
{
	const struct batch_param *param = test->param_value;
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, param->batch, 1000);
	int i;

	mock->step = NSEC_PER_SEC;
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ_MSG(test, walk(&bi, ENDLESS), 2 * param->batch,
				    "start %d", i);
		bounded_iter_restart(&bi);
	}
}

static void batch_0_counts_as_1(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, 0, 5);

	mock->step = 1;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 6);
	KUNIT_EXPECT_EQ(test, mock->looks, 6);
}

/* Nobody walks 2^32 items here: the counter is set to where they would end. */
static void batch_uint_max(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, UINT_MAX, 0);

	KUNIT_EXPECT_EQ(test, walk(&bi, 100000), 100000);
	KUNIT_EXPECT_EQ(test, bi.left, UINT_MAX - 100000 + 1);
	bi.left -= UINT_MAX - 100000 - 1;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 1);
	KUNIT_EXPECT_EQ(test, mock->looks, 1);
}

struct look_param {
	const char *desc;
	unsigned int batch;
	unsigned int items;
	unsigned int looks;
};

static const struct look_param look_params[] = {
	{ "no item", 32, 0, 0 },
	{ "one item", 32, 1, 0 },
	{ "batch - 1", 32, 31, 0 },
	{ "batch", 32, 32, 0 },
	{ "batch + 1", 32, 33, 1 },
	{ "2 batches", 32, 64, 1 },
	{ "2 batches + 1", 32, 65, 2 },
	{ "10 batches", 32, 320, 9 },
	{ "10 batches + 1", 32, 321, 10 },
	{ "batch of 1, one item", 1, 1, 0 },
	{ "batch of 1, two items", 1, 2, 1 },
	{ "batch of 1, 1000 items", 1, 1000, 999 },
	{ "batch of 1024, 1 << 20 items", 1024, 1 << 20, 1023 },
};

KUNIT_ARRAY_PARAM_DESC(look, look_params, desc);

/* G4: no look for the first batch, then one for each batch begun. */
static void one_look_at_the_clock_per_batch(struct kunit *test)
{
	const struct look_param *param = test->param_value;
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, param->batch, U64_MAX);

	mock->step = 1;
	KUNIT_EXPECT_EQ(test, walk(&bi, param->items), param->items);
	KUNIT_EXPECT_EQ(test, mock->looks, param->looks);
	KUNIT_EXPECT_EQ(test, mock->asked, 0);
}

struct budget_param {
	const char *desc;
	u64 start;
	u64 budget;
	u64 elapsed;
	bool expired;
};

static const struct budget_param budget_params[] = {
	{ "budget 1, 0 elapsed", 0, 1, 0, false },
	{ "budget 1, 1 elapsed", 0, 1, 1, true },
	{ "budget 1000, 999 elapsed", 5000, 1000, 999, false },
	{ "budget 1000, 1000 elapsed", 5000, 1000, 1000, true },
	{ "budget 1000, 1001 elapsed", 5000, 1000, 1001, true },
	{ "1 ms, a ns less", NSEC_PER_SEC, NSEC_PER_MSEC,
	  NSEC_PER_MSEC - 1, false },
	{ "1 ms", NSEC_PER_SEC, NSEC_PER_MSEC, NSEC_PER_MSEC, true },
	{ "32 bits, a ns less", 7, 1ULL << 32, (1ULL << 32) - 1, false },
	{ "32 bits", 7, 1ULL << 32, 1ULL << 32, true },
	{ "clock wraps, a ns less", U64_MAX - 499, 1000, 999, false },
	{ "clock wraps", U64_MAX - 499, 1000, 1000, true },
	{ "clock wraps to 0", U64_MAX, 1, 1, true },
	{ "clock passes S64_MAX, a ns less", S64_MAX - 1, 1000, 999, false },
	{ "clock passes S64_MAX", S64_MAX - 1, 1000, 1000, true },
	{ "budget S64_MAX, a ns less", 3, S64_MAX, S64_MAX - 1, false },
	{ "budget S64_MAX", 3, S64_MAX, S64_MAX, true },
	{ "budget U64_MAX, a second", 3, U64_MAX, NSEC_PER_SEC, false },
	{ "budget U64_MAX, S64_MAX elapsed", 3, U64_MAX, S64_MAX, false },
	{ "budget U64_MAX, start at 0", 0, U64_MAX, 1, false },
};

KUNIT_ARRAY_PARAM_DESC(budget, budget_params, desc);

/* G2, G3: stopped at the first look that finds the budget spent, not before. */
static void budget_is_exact(struct kunit *test)
{
	const struct budget_param *param = test->param_value;
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, param->budget);

	mock->now = param->start;
	mock->step = param->elapsed;
	KUNIT_EXPECT_EQ(test, walk(&bi, 2 * BATCH), 2 * BATCH);
	KUNIT_EXPECT_EQ(test, walk(&bi, 1), !param->expired);
	KUNIT_EXPECT_EQ(test, bounded_iter_truncated(&bi), param->expired);
	KUNIT_EXPECT_EQ(test, mock->looks, 2);
}

static void budget_0_ends_at_the_first_look(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 0);

	mock->now = NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 1);
}

/* G2: at most a batch, the budget and a batch, with the clock between looks. */
static void hold_is_at_most_two_batches_longer(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);

	/* 10 ns an item: three looks see 0, 320, 640 and 960, the next 1280. */
	mock->step = 10 * BATCH;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 5 * BATCH);
	KUNIT_EXPECT_LE(test, 5 * BATCH * 10, BATCH * 10 + 1000 + BATCH * 10);
}

/* G3: a clock behind the start is a new start, with the budget ahead. */
static void clock_steps_back_behind_the_start(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);

	/* Looks see 1000000, 1000400, 800, 1200, 1600 and 2000. */
	mock->now = 1000000;
	mock->step = 400;
	mock->leap_at = 2;
	mock->leap = -1000000ULL;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 6 * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 6);
}

/* G3: one that stays ahead of the start costs what it took back. */
static void clock_steps_back_but_not_to_the_start(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);

	/* Looks see 5000, 5400, 5600, and 6000 is the end. */
	mock->now = 5000;
	mock->step = 400;
	mock->leap_at = 2;
	mock->leap = -200ULL;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 4 * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 4);
}

/* G5: a clock that stands still is given 1024 looks, whatever the budget. */
static void clock_is_frozen(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, U64_MAX);

	mock->now = 12345;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), STUCK * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, STUCK);

	bounded_iter_restart(&bi);
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), STUCK * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 2 * STUCK);
}

/* A clock that is frozen at the value a fresh state has looks no different. */
static void clock_is_frozen_at_0(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);

	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), STUCK * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, STUCK);
}

/* G5: only looks in a row count. */
static void clock_moves_now_and_then(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);

	mock->leap_at = STUCK - 1;
	mock->leap = 1;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), (2 * STUCK - 1) * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 2 * STUCK - 1);
}

/* G5: an unstable sched_clock moves up to a tick ahead and then no more. */
static void clock_saturates(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, NSEC_PER_MSEC);

	mock->step = 1000;
	KUNIT_EXPECT_EQ(test, walk(&bi, 10 * BATCH), 10 * BATCH);
	mock->step = 0;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), (STUCK - 1) * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 9 + STUCK);
}

/* G6: without the gate nobody asks. */
static void no_gate(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);

	mock->step = 500;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 3 * BATCH);
	KUNIT_EXPECT_EQ(test, mock->asked, 0);
}

/* G6: the clock is started, and not looked at again while the gate is shut. */
static void gate_shut(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BATCH, 1000);

	mock->step = NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, walk(&bi, 100 * BATCH), 100 * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 1);
	KUNIT_EXPECT_EQ(test, mock->asked, 98);
	KUNIT_EXPECT_FALSE(test, bounded_iter_truncated(&bi));
}

/* G6: an open gate is no gate, but for the question. */
static void gate_open(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BATCH, 1000);

	mock->step = 500;
	mock->resched_from = 1;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 3 * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 3);
	KUNIT_EXPECT_EQ(test, mock->asked, 2);
}

struct flip_param {
	const char *desc;
	unsigned int resched_from;
	unsigned int granted;
};

static const struct flip_param flip_params[] = {
	{ "at the first question", 1, 2 * BATCH },
	{ "at the second", 2, 3 * BATCH },
	{ "much later", 1000, 1001 * BATCH },
};

KUNIT_ARRAY_PARAM_DESC(flip, flip_params, desc);

/* G6: with the budget spent, the batch for which the gate opens is not begun. */
static void gate_opens_after_the_budget(struct kunit *test)
{
	const struct flip_param *param = test->param_value;
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BATCH, 1000);

	mock->step = NSEC_PER_SEC;
	mock->resched_from = param->resched_from;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), param->granted);
	KUNIT_EXPECT_EQ(test, mock->looks, 2);
	KUNIT_EXPECT_EQ(test, mock->asked, param->resched_from);
}

/* G6: a preemption that is due before the budget is spent does not stop. */
static void gate_opens_before_the_budget(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BATCH, 1000);

	/* Looks see 0, then 300, 600, 900 and 1200 a batch apart. */
	mock->step = 300;
	mock->resched_from = 5;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 9 * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 5);
	KUNIT_EXPECT_EQ(test, mock->asked, 5 + 3);
}

/* G5 and G6: a dead clock ends a gated walk as well. */
static void gate_open_and_clock_frozen(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BATCH, U64_MAX);

	mock->resched_from = 1;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), STUCK * BATCH);
}

/* G8 */
static void expiry_is_sticky(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BATCH, 1000);
	unsigned int admitted = 0;
	int i;

	mock->now = NSEC_PER_SEC;
	mock->step = 1000;
	mock->resched_from = 1;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 2 * BATCH);

	/* Neither a clock that goes back nor a gate that shuts undoes it. */
	mock->now = 0;
	mock->resched_from = 0;
	for (i = 0; i < 3 * BATCH; i++)
		admitted += !bounded_iter_expired(&bi);
	KUNIT_EXPECT_EQ(test, admitted, 0);
	KUNIT_EXPECT_TRUE(test, bounded_iter_truncated(&bi));
	KUNIT_EXPECT_EQ(test, mock->looks, 2);
	KUNIT_EXPECT_EQ(test, mock->asked, 1);
}

static void not_truncated_when_the_list_ends_first(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);

	/* One item more would have been one too many. */
	mock->step = 1000;
	KUNIT_EXPECT_EQ(test, walk(&bi, 2 * BATCH), 2 * BATCH);
	KUNIT_EXPECT_FALSE(test, bounded_iter_truncated(&bi));
}

static void restart_grants_a_new_budget(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);

	mock->step = 500;
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 3 * BATCH);
	KUNIT_EXPECT_TRUE(test, bounded_iter_truncated(&bi));

	bounded_iter_restart(&bi);
	KUNIT_EXPECT_FALSE(test, bounded_iter_truncated(&bi));
	mock->looks = 0;
	KUNIT_EXPECT_EQ(test, walk(&bi, BATCH), BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 0);
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 2 * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 3);
	KUNIT_EXPECT_TRUE(test, bounded_iter_truncated(&bi));
}

/* In the middle of a batch, as after a lock that was dropped for other reasons. */
static void restart_before_the_budget_is_spent(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);
	int i;

	mock->step = 900;
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ_MSG(test, walk(&bi, 2 * BATCH + 5),
				    2 * BATCH + 5, "turn %d", i);
		bounded_iter_restart(&bi);
	}
	KUNIT_EXPECT_EQ(test, mock->looks, 20);
}

static void two_loops_share_one_budget(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 1000);

	/* Items 33, 65, 97 ... look at 0, 300, 600, 900 and 1200. */
	mock->step = 300;
	KUNIT_EXPECT_EQ(test, walk(&bi, 50), 50);
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 5 * BATCH - 50);
	KUNIT_EXPECT_EQ(test, mock->looks, 5);

	/* A third one finds it spent. */
	KUNIT_EXPECT_EQ(test, walk(&bi, ENDLESS), 0);
	KUNIT_EXPECT_EQ(test, mock->looks, 5);
}

/* Where no stub is active, the kernel's own clock and flag are what is seen. */
static void real_clock_without_stub(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	u64 before, seen, after;

	mock->now = 42;
	KUNIT_EXPECT_EQ(test, bounded_iter_clock(), 42);

	kunit_deactivate_static_stub(test, bounded_iter_clock);
	preempt_disable();
	before = local_clock();
	seen = bounded_iter_clock();
	after = local_clock();
	preempt_enable();
	KUNIT_EXPECT_LE(test, before, seen);
	KUNIT_EXPECT_LE(test, seen, after);
	KUNIT_EXPECT_EQ(test, mock->looks, 1);
}

/*
 * G5 with the machine's clock, which may stop while interrupts are off. Where it
 * does not, a walk of a millisecond is a long way from @enough.
 */
static void real_clock_ends_a_walk(struct kunit *test)
{
	const unsigned int enough = 1U << 28;
	DEFINE_BOUNDED_ITER(bi, BATCH, NSEC_PER_MSEC);
	unsigned long flags;
	unsigned int n;

	kunit_deactivate_static_stub(test, bounded_iter_clock);
	local_irq_save(flags);
	n = walk(&bi, enough);
	local_irq_restore(flags);
	KUNIT_EXPECT_GE(test, n, 2 * BATCH);
	KUNIT_EXPECT_LT(test, n, enough);
	KUNIT_EXPECT_TRUE(test, bounded_iter_truncated(&bi));
}

static void real_need_resched_without_stub(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	bool was_set, set, cleared;

	KUNIT_EXPECT_FALSE(test, bounded_iter_need_resched());
	KUNIT_EXPECT_EQ(test, mock->asked, 1);

	kunit_deactivate_static_stub(test, bounded_iter_need_resched);
	local_irq_disable();
	was_set = need_resched();
	set_tsk_need_resched(current);
	set = bounded_iter_need_resched();
	clear_tsk_need_resched(current);
	cleared = bounded_iter_need_resched();
	if (was_set)
		set_tsk_need_resched(current);
	local_irq_enable();
	KUNIT_EXPECT_TRUE(test, set);
	KUNIT_EXPECT_FALSE(test, cleared);
	KUNIT_EXPECT_EQ(test, mock->asked, 1);
}

/* The same with bottom halves off, and on PREEMPT_RT as well. */
static void bounded_with_bottom_halves_off(struct kunit *test)
{
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, BATCH, 100);
	unsigned int n = 0;
	bool sticky;

	mock->step = 10;
	local_bh_disable();
	while (n < ENDLESS && !bounded_iter_expired_bh(&bi))
		n++;
	sticky = bounded_iter_expired_bh(&bi);
	local_bh_enable();

	KUNIT_EXPECT_EQ(test, n, 11 * BATCH);
	KUNIT_EXPECT_EQ(test, mock->looks, 11);
	KUNIT_EXPECT_TRUE(test, sticky);
	KUNIT_EXPECT_EQ(test, mock->looks, 11);
}

/* Only that: a spinlock_t section can be preempted there. */
static void preempt_rt_bounds_nothing_else(struct kunit *test)
{
	bool rt = IS_ENABLED(CONFIG_PREEMPT_RT);
	struct kunit_bounded_iter *mock = test->priv;
	DEFINE_BOUNDED_ITER(bi, 1, 0);

	KUNIT_EXPECT_EQ(test, walk(&bi, 100), rt ? 100 : 1);
	KUNIT_EXPECT_EQ(test, mock->looks, rt ? 0 : 1);
	KUNIT_EXPECT_EQ(test, bounded_iter_truncated(&bi), !rt);
}

static struct kunit_case bounded_iter_test_cases[] = {
	KUNIT_CASE_PARAM(first_batch_is_granted_unseen, batch_gen_params),
	KUNIT_CASE_PARAM(progress_when_the_clock_leaps, batch_gen_params),
	KUNIT_CASE(batch_0_counts_as_1),
	KUNIT_CASE(batch_uint_max),
	KUNIT_CASE_PARAM(one_look_at_the_clock_per_batch, look_gen_params),
	KUNIT_CASE_PARAM(budget_is_exact, budget_gen_params),
	KUNIT_CASE(budget_0_ends_at_the_first_look),
	KUNIT_CASE(hold_is_at_most_two_batches_longer),
	KUNIT_CASE(clock_steps_back_behind_the_start),
	KUNIT_CASE(clock_steps_back_but_not_to_the_start),
	KUNIT_CASE(clock_is_frozen),
	KUNIT_CASE(clock_is_frozen_at_0),
	KUNIT_CASE(clock_moves_now_and_then),
	KUNIT_CASE(clock_saturates),
	KUNIT_CASE(no_gate),
	KUNIT_CASE(gate_shut),
	KUNIT_CASE(gate_open),
	KUNIT_CASE_PARAM(gate_opens_after_the_budget, flip_gen_params),
	KUNIT_CASE(gate_opens_before_the_budget),
	KUNIT_CASE(gate_open_and_clock_frozen),
	KUNIT_CASE(expiry_is_sticky),
	KUNIT_CASE(not_truncated_when_the_list_ends_first),
	KUNIT_CASE(restart_grants_a_new_budget),
	KUNIT_CASE(restart_before_the_budget_is_spent),
	KUNIT_CASE(two_loops_share_one_budget),
	KUNIT_CASE(real_clock_without_stub),
	KUNIT_CASE(real_clock_ends_a_walk),
	KUNIT_CASE(real_need_resched_without_stub),
	{}
};

static struct kunit_suite bounded_iter_test_suite = {
	.name = "bounded_iter",
	.init = bounded_iter_test_init,
	.test_cases = bounded_iter_test_cases,
};

static struct kunit_case bounded_iter_bh_test_cases[] = {
	KUNIT_CASE(bounded_with_bottom_halves_off),
	KUNIT_CASE(preempt_rt_bounds_nothing_else),
	{}
};

static struct kunit_suite bounded_iter_bh_test_suite = {
	.name = "bounded_iter_bh",
	.init = bounded_iter_bh_test_init,
	.test_cases = bounded_iter_bh_test_cases,
};

kunit_test_suites(&bounded_iter_test_suite, &bounded_iter_bh_test_suite);

MODULE_DESCRIPTION("KUnit test for bounded_iter");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_LICENSE("GPL");
