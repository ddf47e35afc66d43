// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of the ext4 extent status tree: __es_shrink() on the inodes of a
 * super block that exists for the test alone. Included by extents_status.c.
 */
#include <kunit/bounded_iter.h>

/* Looks at the clock are a budget apart: a pause after two batches. */
#define STRETCH		(2 * BOUNDED_ITER_BATCH)

#define MAX_INODES	1000

struct es_test_ctx {
	struct kunit_bounded_iter mock;
	struct super_block *sb;
	struct ext4_sb_info *sbi;
	struct ext4_inode_info *inodes;
	unsigned int nr_inodes;
	bool returned;

	/* what the waiter found, and what it is to do */
	unsigned int pauses;
	bool lock_was_taken;
	unsigned int nr_on_list;
	bool clear;
};

static void es_test_destroy_counter(void *counter)
{
	percpu_counter_destroy(counter);
}

static void es_test_init_counter(struct kunit *test,
				 struct percpu_counter *counter)
{
	KUNIT_ASSERT_EQ(test, 0, percpu_counter_init(counter, 0, GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test,
						  es_test_destroy_counter,
						  counter));
}

static void es_test_free_inodes(void *data)
{
	struct es_test_ctx *ctx = data;
	unsigned int i;

	for (i = 0; i < ctx->nr_inodes; i++)
		ext4_clear_inode_es(&ctx->inodes[i].vfs_inode);
	kvfree(ctx->inodes);
}

static int es_test_init(struct kunit *test)
{
	struct es_test_ctx *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->mock.now = NSEC_PER_SEC;
	ctx->mock.step = NSEC_PER_MSEC;
	kunit_bounded_iter_skip_on_rt(test);
	kunit_bounded_iter_init(test);

	ctx->sb = kunit_kzalloc(test, sizeof(*ctx->sb), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->sb);
	ctx->sbi = kunit_kzalloc(test, sizeof(*ctx->sbi), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->sbi);
	ctx->sb->s_fs_info = ctx->sbi;
	ctx->sbi->s_sb = ctx->sb;
	INIT_LIST_HEAD(&ctx->sbi->s_es_list);
	spin_lock_init(&ctx->sbi->s_es_lock);
	es_test_init_counter(test, &ctx->sbi->s_es_stats.es_stats_cache_hits);
	es_test_init_counter(test, &ctx->sbi->s_es_stats.es_stats_cache_misses);
	es_test_init_counter(test, &ctx->sbi->s_es_stats.es_stats_all_cnt);
	es_test_init_counter(test, &ctx->sbi->s_es_stats.es_stats_shk_cnt);

	ctx->inodes = kvcalloc(MAX_INODES, sizeof(*ctx->inodes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->inodes);
	return kunit_add_action_or_reset(test, es_test_free_inodes, ctx);
}

/* @nr inodes with @extents each, all of which can be reclaimed. */
static void add_inodes(struct kunit *test, unsigned int nr,
		       unsigned int extents, bool precached)
{
	struct es_test_ctx *ctx = test->priv;
	unsigned int i;

	KUNIT_ASSERT_LE(test, ctx->nr_inodes + nr, MAX_INODES);
	while (nr--) {
		struct ext4_inode_info *ei = &ctx->inodes[ctx->nr_inodes++];

		ei->vfs_inode.i_sb = ctx->sb;
		rwlock_init(&ei->i_es_lock);
		ext4_es_init_tree(&ei->i_es_tree);
		INIT_LIST_HEAD(&ei->i_es_list);
		for (i = 0; i < extents; i++)
			ext4_es_cache_extent(&ei->vfs_inode, 20 * i, 10, 1000,
					     EXTENT_STATUS_WRITTEN);
		if (precached)
			ext4_set_inode_state(&ei->vfs_inode,
					     EXT4_STATE_EXT_PRECACHED);
	}
}

static int shrink(struct kunit *test, int nr_to_scan,
		  struct ext4_inode_info *locked_ei)
{
	struct es_test_ctx *ctx = test->priv;
	int nr_shrunk;

	nr_shrunk = __es_shrink(ctx->sbi, nr_to_scan, locked_ei);
	ctx->returned = true;
	return nr_shrunk;
}

static int es_waiter(void *data)
{
	struct es_test_ctx *ctx = data;
	unsigned int i;

	while (kunit_bounded_iter_wait(&ctx->mock)) {
		if (ctx->returned)
			continue;
		ctx->pauses++;
		if (!spin_trylock(&ctx->sbi->s_es_lock)) {
			ctx->lock_was_taken = true;
			continue;
		}
		ctx->nr_on_list = list_count_nodes(&ctx->sbi->s_es_list);
		spin_unlock(&ctx->sbi->s_es_lock);
		if (!ctx->clear)
			continue;
		for (i = 0; i < ctx->nr_inodes; i++)
			ext4_clear_inode_es(&ctx->inodes[i].vfs_inode);
	}
	return 0;
}

static void start_waiter(struct kunit *test)
{
	struct es_test_ctx *ctx = test->priv;

	ctx->mock.wake_at = 1;
	kunit_bounded_iter_waiter(test, es_waiter);
}

static void one_batch_without_a_look(struct kunit *test)
{
	struct es_test_ctx *ctx = test->priv;

	add_inodes(test, BOUNDED_ITER_BATCH, 3, false);
	KUNIT_EXPECT_EQ(test, shrink(test, 1000, NULL), 3 * BOUNDED_ITER_BATCH);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&ctx->sbi->s_es_list));
	KUNIT_EXPECT_EQ(test, ctx->sbi->s_es_nr_inode, 0);
}

static void ends_with_nr_to_scan(struct kunit *test)
{
	struct es_test_ctx *ctx = test->priv;

	add_inodes(test, 20, 3, false);
	KUNIT_EXPECT_EQ(test, shrink(test, 7, NULL), 7);
	KUNIT_EXPECT_EQ(test, ctx->sbi->s_es_nr_inode, 18);
}

static void no_inodes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, shrink(test, 100, NULL), 0);
}

/* Precached inodes are left alone if others have something. */
static void precached_inodes_are_spared(struct kunit *test)
{
	struct es_test_ctx *ctx = test->priv;

	add_inodes(test, 500, 1, true);
	add_inodes(test, 10, 1, false);
	KUNIT_EXPECT_EQ(test, shrink(test, 1000, NULL), 10);
	KUNIT_EXPECT_EQ(test, ctx->sbi->s_es_nr_inode, 500);
}

/* As a last resort they are not, however long the first pass has taken. */
static void precached_inodes_alone(struct kunit *test)
{
	struct es_test_ctx *ctx = test->priv;

	add_inodes(test, 500, 1, true);
	KUNIT_EXPECT_EQ(test, shrink(test, 400, NULL), 400);
	KUNIT_EXPECT_EQ(test, ctx->sbi->s_es_nr_inode, 100);
}

/* It is skipped, and shrunk itself when that has got nothing. */
static void locked_inode_alone(struct kunit *test)
{
	struct es_test_ctx *ctx = test->priv;

	ctx->mock.step = 0;
	add_inodes(test, 1, 5, false);
	KUNIT_EXPECT_EQ(test, shrink(test, 3, &ctx->inodes[0]), 3);
	KUNIT_EXPECT_EQ(test, ctx->inodes[0].i_es_shk_nr, 2);
}

/*
 * Between inodes that are shrunk, and between the passes, the lock is free without
 * a pause. A preemptible kernel lets the waiter in there, too, if a look has woken it.
 */
static unsigned int times_in(unsigned int pauses, unsigned int otherwise)
{
	return preempt_model_preemptible() ? pauses + otherwise : pauses;
}

/*
 * 100 are skipped, then shrunk: one budget for all 200 looks at an inode. Looks 2,
 * 4 and 6 spend it; 3 is the last one of the first pass, and 5 is in the second.
 */
static void both_passes_share_the_budget(struct kunit *test)
{
	struct es_test_ctx *ctx = test->priv;

	add_inodes(test, 100, 1, true);
	start_waiter(test);
	KUNIT_EXPECT_EQ(test, shrink(test, 1000, NULL), 100);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 200 / STRETCH * 2);
	KUNIT_EXPECT_EQ(test, ctx->pauses, times_in(200 / STRETCH, 2));
}

/* While it pauses the lock is free, and all inodes are where others find them. */
static void pause_lets_others_in(struct kunit *test)
{
	struct es_test_ctx *ctx = test->priv;

	add_inodes(test, STRETCH, 1, true);
	add_inodes(test, 10, 1, false);
	start_waiter(test);
	KUNIT_EXPECT_EQ(test, shrink(test, 1000, NULL), 10);
	KUNIT_EXPECT_EQ(test, ctx->pauses, 1);
	KUNIT_EXPECT_FALSE(test, ctx->lock_was_taken);
	KUNIT_EXPECT_EQ(test, ctx->nr_on_list, STRETCH + 10);
}

/* The inodes may all be gone when the walk goes on. */
static void all_are_gone_after_a_pause(struct kunit *test)
{
	struct es_test_ctx *ctx = test->priv;

	add_inodes(test, 500, 1, true);
	ctx->clear = true;
	start_waiter(test);
	KUNIT_EXPECT_EQ(test, shrink(test, 1000, NULL), 0);
	KUNIT_EXPECT_EQ(test, ctx->pauses, 1);
	KUNIT_EXPECT_EQ(test, ctx->nr_on_list, 500);
	KUNIT_EXPECT_TRUE(test, list_empty(&ctx->sbi->s_es_list));
}

struct budget_param {
	const char *desc;
	u64 step;
	unsigned int looks;
	unsigned int pauses;
	unsigned int other_looks;
};

static const struct budget_param budget_params[] = {
	{ "no time passes", 0, 18, 0, 10 },
	{ "the budget", NSEC_PER_MSEC, 18, 9, 5 },
	{ "... less 1 ns", NSEC_PER_MSEC - 1, 18, 6, 6 },
	{ "half of it", NSEC_PER_MSEC / 2, 18, 6, 6 },
};

KUNIT_ARRAY_PARAM_DESC(budget, budget_params, desc);

/*
 * 600 inodes, so 19 batches begin, and all but the first one with a look: nine in
 * each pass. The other looks are those that spend no budget but come before the
 * lock is free: the last one of the first pass, and those of the second.
 */
static void budget_is_a_millisecond(struct kunit *test)
{
	const struct budget_param *param = test->param_value;
	struct es_test_ctx *ctx = test->priv;

	add_inodes(test, 300, 1, true);
	ctx->mock.step = param->step;
	start_waiter(test);
	KUNIT_EXPECT_EQ(test, shrink(test, 1000, NULL), 300);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, param->looks);
	KUNIT_EXPECT_EQ(test, ctx->pauses,
			times_in(param->pauses, param->other_looks));
}

static struct kunit_case es_test_cases[] = {
	KUNIT_CASE(one_batch_without_a_look),
	KUNIT_CASE(ends_with_nr_to_scan),
	KUNIT_CASE(no_inodes),
	KUNIT_CASE(precached_inodes_are_spared),
	KUNIT_CASE(precached_inodes_alone),
	KUNIT_CASE(locked_inode_alone),
	KUNIT_CASE(both_passes_share_the_budget),
	KUNIT_CASE(pause_lets_others_in),
	KUNIT_CASE(all_are_gone_after_a_pause),
	KUNIT_CASE_PARAM(budget_is_a_millisecond, budget_gen_params),
	{}
};

static struct kunit_suite es_test_suite = {
	.name = "ext4_extents_status",
	.init = es_test_init,
	.test_cases = es_test_cases,
};

kunit_test_suite(es_test_suite);
