// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test for neighbour: forced garbage collection of a table that exists for
 * the test alone. Included by net/core/neighbour.c.
 */
#include <kunit/bounded_iter.h>
#include <linux/hash.h>

/* Looks at the clock are a budget apart: a run ends after two batches. */
#define RUN	32

/* Nothing but entries that it takes off lets a run end before the list does. */
#define NO_LIMIT	1000000

enum entry_kind {
	FAILED,		/* can go */
	OLD,		/* can go, not touched for a while */
	FRESH,		/* not in use, but was touched lately */
	IN_USE,		/* somebody holds a reference */
};

struct neighbour_ctx {
	struct kunit_bounded_iter mock;
	struct neigh_table tbl;
	u32 next_key;
	unsigned long flushed_before;
};

static u32 test_hash(const void *pkey, const struct net_device *dev,
		     u32 *hash_rnd)
{
	return hash_32(*(const u32 *)pkey, 32);
}

static bool test_key_eq(const struct neighbour *n, const void *pkey)
{
	return *(const u32 *)n->primary_key == *(const u32 *)pkey;
}

static const struct neigh_ops test_ops = {
	.family = AF_UNSPEC,
};

static int test_constructor(struct neighbour *n)
{
	n->ops = &test_ops;
	return 0;
}

/* The references go first: entries in use would stay for ever. */
static void empty_test_table(void *data)
{
	struct neigh_table *tbl = data;
	struct neighbour *n, *tmp;

	write_lock_bh(&tbl->lock);
	list_for_each_entry_safe(n, tmp, &tbl->gc_list, gc_list) {
		if (refcount_read(&n->refcnt) == 2)
			neigh_release(n);
		neigh_remove_one(n, tbl);
	}
	write_unlock_bh(&tbl->lock);
	neigh_hash_free_rcu(&rcu_dereference_protected(tbl->nht, 1)->rcu);
	rcu_barrier();
	free_percpu(tbl->stats);
}

static int neighbour_test_init(struct kunit *test)
{
	struct neighbour_ctx *ctx;
	struct neigh_table *tbl;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->mock.now = NSEC_PER_SEC;
	ctx->mock.step = NSEC_PER_MSEC;
	kunit_bounded_iter_init(test);

	tbl = &ctx->tbl;
	tbl->id = "test_cache";
	tbl->family = AF_UNSPEC;
	tbl->key_len = sizeof(u32);
	tbl->entry_size = ALIGN(offsetof(struct neighbour, primary_key) +
				tbl->key_len, NEIGH_PRIV_ALIGN);
	tbl->hash = test_hash;
	tbl->key_eq = test_key_eq;
	tbl->constructor = test_constructor;
	tbl->parms.tbl = tbl;
	refcount_set(&tbl->parms.refcnt, 1);
	write_pnet(&tbl->parms.net, &init_net);
	tbl->gc_thresh2 = NO_LIMIT;
	tbl->gc_thresh3 = NO_LIMIT;
	ctx->flushed_before = jiffies - 3600 * HZ;
	tbl->last_flush = ctx->flushed_before;
	INIT_LIST_HEAD(&tbl->gc_list);
	INIT_LIST_HEAD(&tbl->managed_list);
	rwlock_init(&tbl->lock);
	tbl->stats = alloc_percpu(struct neigh_statistics);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)tbl->stats);
	RCU_INIT_POINTER(tbl->nht, neigh_hash_alloc(3));
	KUNIT_ASSERT_NOT_NULL(test, rcu_access_pointer(tbl->nht));
	return kunit_add_action_or_reset(test, empty_test_table, tbl);
}

static struct neighbour *create(struct neighbour_ctx *ctx, bool in_use)
{
	u32 key = ctx->next_key;
	struct neighbour *n;

	n = ___neigh_create(&ctx->tbl, &key, init_net.loopback_dev, 0, false,
			    in_use);
	if (!IS_ERR(n))
		ctx->next_key++;
	return n;
}

/* Add @nr entries; their keys count up from 0. */
static void add_entries(struct kunit *test, unsigned int nr,
			enum entry_kind kind)
{
	while (nr--) {
		struct neighbour *n = create(test->priv, kind == IN_USE);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, n);
		if (kind == FAILED)
			WRITE_ONCE(n->nud_state, NUD_FAILED);
		if (kind == OLD)
			n->updated = jiffies - 6 * HZ;
	}
}

/* To be called when all entries are there: they would trigger runs. */
static int run(struct neighbour_ctx *ctx)
{
	int shrunk, thresh2 = ctx->tbl.gc_thresh2;

	if (thresh2 == NO_LIMIT)
		ctx->tbl.gc_thresh2 = 0;
	shrunk = neigh_forced_gc(&ctx->tbl);
	ctx->tbl.gc_thresh2 = thresh2;
	return shrunk;
}

static bool flushed(struct neighbour_ctx *ctx)
{
	return ctx->tbl.last_flush != ctx->flushed_before;
}

static u32 front(struct neighbour_ctx *ctx)
{
	struct neighbour *n = list_first_entry(&ctx->tbl.gc_list,
					       struct neighbour, gc_list);

	return *(u32 *)n->primary_key;
}

static unsigned int entries(struct neighbour_ctx *ctx)
{
	return list_count_nodes(&ctx->tbl.gc_list);
}

struct kind_param {
	const char *desc;
	enum entry_kind kind;
	int shrunk;
};

static const struct kind_param kind_params[] = {
	{ "failed", FAILED, 16 },
	{ "old", OLD, 16 },
	{ "fresh", FRESH, 0 },
	{ "in use", IN_USE, 0 },
};

KUNIT_ARRAY_PARAM_DESC(kind, kind_params, desc);

static void one_batch_without_a_look(struct kunit *test)
{
	const struct kind_param *param = test->param_value;
	struct neighbour_ctx *ctx = test->priv;

	add_entries(test, 16, param->kind);
	KUNIT_EXPECT_EQ(test, run(ctx), param->shrunk);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 0);
	KUNIT_EXPECT_EQ(test, entries(ctx), 16 - param->shrunk);
	KUNIT_EXPECT_TRUE(test, flushed(ctx));
}

/* No entry walks past the bound, whatever becomes of it. */
static void every_entry_counts(struct kunit *test)
{
	const struct kind_param *param = test->param_value;
	struct neighbour_ctx *ctx = test->priv;

	add_entries(test, 100, param->kind);
	KUNIT_EXPECT_EQ(test, run(ctx), 2 * param->shrunk);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 2);
	KUNIT_EXPECT_EQ(test, front(ctx), RUN);
	KUNIT_EXPECT_FALSE(test, flushed(ctx));
}

static void empty_table(struct kunit *test)
{
	struct neighbour_ctx *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, run(ctx), 0);
	KUNIT_EXPECT_TRUE(test, flushed(ctx));
}

/* In time, a run takes what is above gc_thresh2 and no more. */
static void down_to_gc_thresh2(struct kunit *test)
{
	struct neighbour_ctx *ctx = test->priv;

	add_entries(test, 100, FAILED);
	ctx->mock.step = 0;
	ctx->tbl.gc_thresh2 = 90;
	KUNIT_EXPECT_EQ(test, run(ctx), 10);
	KUNIT_EXPECT_EQ(test, entries(ctx), 90);
	KUNIT_EXPECT_EQ(test, front(ctx), 10);
	KUNIT_EXPECT_TRUE(test, flushed(ctx));
}

struct budget_param {
	const char *desc;
	u64 step;
	unsigned int seen;
};

static const struct budget_param budget_params[] = {
	{ "the budget", NSEC_PER_MSEC, 32 },
	{ "... less 1 ns", NSEC_PER_MSEC - 1, 48 },
	{ "half of it", NSEC_PER_MSEC / 2, 48 },
	{ "an 11th of it", NSEC_PER_MSEC / 11 + 1, 192 },
};

KUNIT_ARRAY_PARAM_DESC(budget, budget_params, desc);

/* From one look to the next one, 16 entries later. */
static void budget_is_a_millisecond(struct kunit *test)
{
	const struct budget_param *param = test->param_value;
	struct neighbour_ctx *ctx = test->priv;

	add_entries(test, 500, IN_USE);
	ctx->mock.step = param->step;
	KUNIT_EXPECT_EQ(test, run(ctx), 0);
	KUNIT_EXPECT_EQ(test, front(ctx), param->seen);
}

/* 100 in use in front of 20 that can go: they are got at in the fourth run. */
static void next_run_goes_on(struct kunit *test)
{
	struct neighbour_ctx *ctx = test->priv;

	add_entries(test, 100, IN_USE);
	add_entries(test, 20, FAILED);
	KUNIT_EXPECT_EQ(test, run(ctx), 0);
	KUNIT_EXPECT_EQ(test, front(ctx), 1 * RUN);
	KUNIT_EXPECT_EQ(test, run(ctx), 0);
	KUNIT_EXPECT_EQ(test, front(ctx), 2 * RUN);
	KUNIT_EXPECT_EQ(test, run(ctx), 0);
	KUNIT_EXPECT_EQ(test, front(ctx), 3 * RUN);
	KUNIT_EXPECT_FALSE(test, flushed(ctx));

	KUNIT_EXPECT_EQ(test, run(ctx), 20);
	KUNIT_EXPECT_EQ(test, entries(ctx), 100);
	KUNIT_EXPECT_TRUE(test, flushed(ctx));
}

/*
 * All entries are in use: the run that sees the last one that none has seen is
 * complete, like one that had the time to see all. The next one begins anew.
 */
static void several_runs_see_each_entry_once(struct kunit *test)
{
	struct neighbour_ctx *ctx = test->priv;

	add_entries(test, 3 * RUN - 1, IN_USE);
	run(ctx);
	run(ctx);
	KUNIT_EXPECT_FALSE(test, flushed(ctx));
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 4);
	run(ctx);
	KUNIT_EXPECT_TRUE(test, flushed(ctx));
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 5);

	ctx->tbl.last_flush = ctx->flushed_before;
	run(ctx);
	KUNIT_EXPECT_FALSE(test, flushed(ctx));
}

/* What had a run cut short is gone until the next one. */
static void fewer_entries_than_were_left(struct kunit *test)
{
	struct neighbour_ctx *ctx = test->priv;
	struct neighbour *n, *tmp;

	add_entries(test, 100, FRESH);
	KUNIT_EXPECT_EQ(test, run(ctx), 0);
	write_lock_bh(&ctx->tbl.lock);
	list_for_each_entry_safe(n, tmp, &ctx->tbl.gc_list, gc_list)
		if (*(u32 *)n->primary_key >= 10)
			neigh_remove_one(n, &ctx->tbl);
	write_unlock_bh(&ctx->tbl.lock);
	KUNIT_EXPECT_EQ(test, run(ctx), 0);
	KUNIT_EXPECT_TRUE(test, flushed(ctx));
}

/* Entries that came after the pass began are for the next one. */
static void entries_that_are_added_meanwhile(struct kunit *test)
{
	struct neighbour_ctx *ctx = test->priv;

	add_entries(test, RUN + 1, IN_USE);
	KUNIT_EXPECT_EQ(test, run(ctx), 0);
	add_entries(test, 100, FAILED);
	KUNIT_EXPECT_EQ(test, run(ctx), 0);
	KUNIT_EXPECT_TRUE(test, flushed(ctx));
	KUNIT_EXPECT_EQ(test, entries(ctx), RUN + 1 + 100);
}

/*
 * A full table. The first allocation finds nothing but entries in use in its
 * time and fails, the next one gets at those behind.
 */
static void allocation_from_a_full_table(struct kunit *test)
{
	struct neighbour_ctx *ctx = test->priv;
	struct neighbour *first, *second;

	add_entries(test, RUN, IN_USE);
	add_entries(test, 10, FAILED);
	ctx->tbl.gc_thresh2 = RUN + 5;
	ctx->tbl.gc_thresh3 = RUN + 10;

	first = create(ctx, false);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(first), -ENOBUFS);
	KUNIT_EXPECT_FALSE(test, flushed(ctx));
	second = create(ctx, false);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(second), 0);
	KUNIT_EXPECT_EQ(test, entries(ctx), RUN + 5);
	KUNIT_EXPECT_TRUE(test, flushed(ctx));
}

static struct kunit_case neighbour_test_cases[] = {
	KUNIT_CASE_PARAM(one_batch_without_a_look, kind_gen_params),
	KUNIT_CASE_PARAM(every_entry_counts, kind_gen_params),
	KUNIT_CASE(empty_table),
	KUNIT_CASE(down_to_gc_thresh2),
	KUNIT_CASE_PARAM(budget_is_a_millisecond, budget_gen_params),
	KUNIT_CASE(next_run_goes_on),
	KUNIT_CASE(several_runs_see_each_entry_once),
	KUNIT_CASE(fewer_entries_than_were_left),
	KUNIT_CASE(entries_that_are_added_meanwhile),
	KUNIT_CASE(allocation_from_a_full_table),
	{}
};

static struct kunit_suite neighbour_test_suite = {
	.name = "neighbour",
	.init = neighbour_test_init,
	.test_cases = neighbour_test_cases,
};

kunit_test_suite(neighbour_test_suite);
