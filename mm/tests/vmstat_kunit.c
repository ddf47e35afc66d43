// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test for vmstat: what /proc/pagetypeinfo prints of the free lists of a
 * zone that exists for the test alone. Included by mm/vmstat.c.
 */
#include <kunit/bounded_iter.h>

/* Of one list: the cap of today is 100000. */
#define MAX_PAGES	200000

#define LINE_SIZE	(64 + 8 * NR_PAGE_ORDERS)

struct vmstat_ctx {
	struct kunit_bounded_iter mock;
	struct pglist_data *pgdat;
	struct zone *zone;
	struct seq_file m;
	bool irqs_off_after;

	/* what is to be printed, and room for it */
	const char *expected[MIGRATE_TYPES][NR_PAGE_ORDERS];
	char text[MIGRATE_TYPES * LINE_SIZE];

	/* stand for the pages that are free */
	struct list_head *pages;
	unsigned int nr_pages;

	/* what the waiter found */
	unsigned int pauses;
	bool lock_was_taken;
};

static void free_test_pages(void *pages)
{
	kvfree(pages);
}

static int vmstat_test_init(struct kunit *test)
{
	struct vmstat_ctx *ctx;
	int mtype, order;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->mock.now = NSEC_PER_SEC;
	kunit_bounded_iter_skip_on_rt(test);
	kunit_bounded_iter_init(test);

	ctx->pgdat = kunit_kzalloc(test, sizeof(*ctx->pgdat), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->pgdat);
	ctx->pgdat->node_id = 7;
	ctx->zone = &ctx->pgdat->node_zones[0];
	ctx->zone->name = "Test";
	spin_lock_init(&ctx->zone->lock);
	for (mtype = 0; mtype < MIGRATE_TYPES; mtype++) {
		for (order = 0; order < NR_PAGE_ORDERS; order++) {
			struct free_area *area = &ctx->zone->free_area[order];

			INIT_LIST_HEAD(&area->free_list[mtype]);
			ctx->expected[mtype][order] = "     0 ";
		}
	}

	ctx->m.size = sizeof(ctx->text);
	ctx->m.buf = kunit_kzalloc(test, ctx->m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->m.buf);

	ctx->pages = kvcalloc(MAX_PAGES, sizeof(*ctx->pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->pages);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, free_test_pages,
						  ctx->pages));
	return 0;
}

/* @nr free pages, and what should be printed of them. */
static void add_free_pages(struct kunit *test, int mtype, int order,
			   unsigned int nr, const char *expected)
{
	struct vmstat_ctx *ctx = test->priv;
	struct list_head *list = &ctx->zone->free_area[order].free_list[mtype];

	KUNIT_ASSERT_LE(test, ctx->nr_pages + nr, MAX_PAGES);
	while (nr--)
		list_add(&ctx->pages[ctx->nr_pages++], list);
	ctx->expected[mtype][order] = expected;
}

static void show(struct kunit *test)
{
	struct vmstat_ctx *ctx = test->priv;

	spin_lock_irq(&ctx->zone->lock);
	pagetypeinfo_showfree_print(&ctx->m, ctx->pgdat, ctx->zone);
	ctx->irqs_off_after = irqs_disabled();
	spin_unlock_irq(&ctx->zone->lock);
}

static void expect_shown(struct kunit *test)
{
	struct vmstat_ctx *ctx = test->priv;
	int mtype, order, len = 0;

	for (mtype = 0; mtype < MIGRATE_TYPES; mtype++) {
		len += scnprintf(ctx->text + len, sizeof(ctx->text) - len,
				 "Node    7, zone     Test, type %12s ",
				 migratetype_names[mtype]);
		for (order = 0; order < NR_PAGE_ORDERS; order++)
			len += scnprintf(ctx->text + len,
					 sizeof(ctx->text) - len, "%s",
					 ctx->expected[mtype][order]);
		len += scnprintf(ctx->text + len, sizeof(ctx->text) - len,
				 "\n");
	}
	KUNIT_EXPECT_FALSE(test, seq_has_overflowed(&ctx->m));
	KUNIT_EXPECT_STREQ(test, ctx->m.buf, ctx->text);
	KUNIT_EXPECT_TRUE(test, ctx->irqs_off_after);
}

struct list_param {
	const char *desc;
	unsigned int nr;
	unsigned int looks;
	u64 step;
	const char *expected;
};

/* Exact up to 8192 pages, however much time passes between two looks. */
static const struct list_param list_params[] = {
	{ "empty list", 0, 0, NSEC_PER_SEC, "     0 " },
	{ "one page", 1, 0, NSEC_PER_SEC, "     1 " },
	{ "a batch", 4096, 0, NSEC_PER_SEC, "  4096 " },
	{ "a batch + 1", 4097, 1, NSEC_PER_SEC, "  4097 " },
	{ "2 batches", 8192, 1, NSEC_PER_SEC, "  8192 " },
	{ "2 batches + 1", 8193, 2, NSEC_PER_SEC, ">  8192 " },
	{ "many", 50000, 2, NSEC_PER_SEC, ">  8192 " },
	{ "many, budget spent at once", 50000, 2, NSEC_PER_MSEC, ">  8192 " },
	{ "many, ... 1 ns later", 50000, 3, NSEC_PER_MSEC - 1, "> 12288 " },
	{ "many, half a budget a batch", 50000, 3, NSEC_PER_MSEC / 2, "> 12288 " },
	{ "ends as the budget does", 12288, 2, NSEC_PER_MSEC / 2, " 12288 " },
	{ "fast machine, below the cap", 99999, 24, 0, " 99999 " },
	{ "fast machine, at the cap", 100000, 24, 0, ">100000 " },
	{ "fast machine, above the cap", 150000, 24, 0, ">100000 " },
};

KUNIT_ARRAY_PARAM_DESC(list, list_params, desc);

static void one_list(struct kunit *test)
{
	const struct list_param *param = test->param_value;
	struct vmstat_ctx *ctx = test->priv;

	ctx->mock.step = param->step;
	add_free_pages(test, MIGRATE_MOVABLE, 3, param->nr, param->expected);
	show(test);
	expect_shown(test);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, param->looks);
}

/* Half of the budget each. */
static void each_list_has_a_budget(struct kunit *test)
{
	struct vmstat_ctx *ctx = test->priv;

	ctx->mock.step = NSEC_PER_MSEC / 2;
	add_free_pages(test, MIGRATE_UNMOVABLE, 0, 12288, " 12288 ");
	add_free_pages(test, MIGRATE_UNMOVABLE, 1, 12288, " 12288 ");
	add_free_pages(test, MIGRATE_MOVABLE, 0, 12288, " 12288 ");
	show(test);
	expect_shown(test);
}

static void list_after_one_that_was_cut_short(struct kunit *test)
{
	struct vmstat_ctx *ctx = test->priv;

	ctx->mock.step = NSEC_PER_MSEC;
	add_free_pages(test, MIGRATE_MOVABLE, 0, 20000, ">  8192 ");
	add_free_pages(test, MIGRATE_MOVABLE, 1, 8192, "  8192 ");
	add_free_pages(test, MIGRATE_MOVABLE, 2, 20000, ">  8192 ");
	show(test);
	expect_shown(test);
}

static int zone_waiter(void *data)
{
	struct vmstat_ctx *ctx = data;

	while (kunit_bounded_iter_wait(&ctx->mock)) {
		ctx->pauses++;
		if (spin_trylock_irq(&ctx->zone->lock))
			spin_unlock_irq(&ctx->zone->lock);
		else
			ctx->lock_was_taken = true;
	}
	return 0;
}

static void others_get_in_after_each_list(struct kunit *test)
{
	struct vmstat_ctx *ctx = test->priv;

	ctx->mock.step = NSEC_PER_MSEC;
	ctx->mock.wake_at = 1;
	add_free_pages(test, MIGRATE_MOVABLE, 0, 20000, ">  8192 ");
	add_free_pages(test, MIGRATE_MOVABLE, 1, 20000, ">  8192 ");
	add_free_pages(test, MIGRATE_MOVABLE, 2, 20000, ">  8192 ");
	kunit_bounded_iter_waiter(test, zone_waiter);
	show(test);
	expect_shown(test);
	KUNIT_EXPECT_EQ(test, ctx->pauses, 3);
	KUNIT_EXPECT_FALSE(test, ctx->lock_was_taken);
}

static struct kunit_case vmstat_test_cases[] = {
	KUNIT_CASE_PARAM(one_list, list_gen_params),
	KUNIT_CASE(each_list_has_a_budget),
	KUNIT_CASE(list_after_one_that_was_cut_short),
	KUNIT_CASE(others_get_in_after_each_list),
	{}
};

static struct kunit_suite vmstat_test_suite = {
	.name = "vmstat",
	.init = vmstat_test_init,
	.test_cases = vmstat_test_cases,
};

kunit_test_suite(vmstat_test_suite);
