// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test for vmscan: isolate_lru_folios() on real folios, on the lruvec of
 * a node that exists for the test alone. Included by mm/vmscan.c.
 *
 * Lists are drawn in the order of the scan, which begins at the tail.
 */
#include <kunit/bounded_iter.h>

#define ELIGIBLE	0
#define TEST_LRU	LRU_INACTIVE_FILE

/* Looks at the clock are a budget apart: a pass ends after two batches. */
#define PASS		(2 * BOUNDED_ITER_BATCH)

enum folio_kind {
	OK,		/* can be taken */
	SKIP,		/* in a zone that is not eligible */
	FROZEN,		/* its reference cannot be taken */
	ISOLATED,	/* PG_lru is clear: somebody else has it */
	MAPPED,		/* not to be had without may_unmap */
};

struct test_folio {
	struct folio *folio;
	enum folio_kind kind;
	enum zone_type zid;
	enum zone_type real_zid;
};

struct trace_values {
	unsigned int events;
	int highest_zoneidx;
	int order;
	unsigned long nr_requested;
	unsigned long nr_scanned;
	unsigned long nr_skipped;
	unsigned long nr_taken;
	int lru;
};

struct vmscan_ctx {
	struct kunit_bounded_iter mock;
	struct lruvec *lruvec;
	struct pglist_data *pgdat;
	struct test_folio *folios;
	unsigned int nr_folios;
	struct scan_control sc;
	struct task_struct *task;

	/* what a call did */
	struct list_head dst;
	unsigned long nr_taken;
	unsigned long nr_scanned;
	unsigned long nr_skipped[MAX_NR_ZONES];
	struct trace_values trace;
	bool irqs_off_after;
	bool returned;
	unsigned long events_before[NR_VM_EVENT_ITEMS];
	unsigned long events_after[NR_VM_EVENT_ITEMS];

	/* what the waiter found, and what it is to do */
	unsigned int pauses;
	bool lock_was_taken;
	unsigned int nr_on_list;
	unsigned int nr_lru_set;
	bool steal;
	struct list_head stolen;
};

static void trace_probe(void *data, int highest_zoneidx, int order,
			unsigned long nr_requested, unsigned long nr_scanned,
			unsigned long nr_skipped, unsigned long nr_taken,
			int lru)
{
	struct vmscan_ctx *ctx = data;

	if (current != ctx->task)
		return;
	ctx->trace = (struct trace_values) {
		.events = ctx->trace.events + 1,
		.highest_zoneidx = highest_zoneidx,
		.order = order,
		.nr_requested = nr_requested,
		.nr_scanned = nr_scanned,
		.nr_skipped = nr_skipped,
		.nr_taken = nr_taken,
		.lru = lru,
	};
}

static void unregister_trace_probe(void *ctx)
{
	unregister_trace_mm_vmscan_lru_isolate(trace_probe, ctx);
	tracepoint_synchronize_unregister();
}

/* The lists of the lruvec may be gone from under the folios by now. */
static void free_test_folios(void *data)
{
	struct vmscan_ctx *ctx = data;
	unsigned int i;

	for (i = 0; i < ctx->nr_folios; i++) {
		struct test_folio *tf = &ctx->folios[i];
		struct folio *folio = tf->folio;

		list_del(&folio->lru);
		folio_clear_lru(folio);
		if (tf->kind == FROZEN)
			folio_ref_unfreeze(folio, 1);
		if (tf->kind == MAPPED)
			atomic_set(&folio->_mapcount, -1);
		set_page_zone(&folio->page, tf->real_zid);
		set_page_count(&folio->page, 1);
		folio_put(folio);
	}
	kvfree(ctx->folios);
}

#ifdef CONFIG_SMP
static void free_test_zone(void *data)
{
	struct zone *zone = data;

	free_percpu(zone->per_cpu_zonestats);
}

/* Counters with a threshold of 0: each change is visible at once. */
static void init_test_zone(struct kunit *test, struct zone *zone)
{
	zone->per_cpu_zonestats = alloc_percpu(struct per_cpu_zonestat);
	KUNIT_ASSERT_TRUE(test, zone->per_cpu_zonestats);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, free_test_zone, zone));
}
#else
static void init_test_zone(struct kunit *test, struct zone *zone)
{
}
#endif

static void init_test_node(struct kunit *test, struct vmscan_ctx *ctx)
{
	struct pglist_data *pgdat;
	int zid;

	pgdat = kunit_kzalloc(test, sizeof(*pgdat), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pgdat);
	ctx->pgdat = pgdat;

#ifdef CONFIG_SMP
	pgdat->per_cpu_nodestats = NODE_DATA(first_online_node)->per_cpu_nodestats;
#endif
	for (zid = 0; zid < MAX_NR_ZONES; zid++) {
		struct zone *zone = &pgdat->node_zones[zid];

		zone->zone_pgdat = pgdat;
		atomic_long_set(&zone->managed_pages, 1);
		init_test_zone(test, zone);
	}
}

/*
 * With memory cgroups an lruvec belongs to one, and its sizes are counted
 * there: lend the statistics of the root, which a test leaves as they were.
 */
static void init_test_lruvec(struct kunit *test, struct vmscan_ctx *ctx)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup_per_node *pn;

	pn = kunit_kzalloc(test, sizeof(*pn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pn);
	lruvec_init(&pn->lruvec);
	pn->lruvec.pgdat = ctx->pgdat;
	if (!mem_cgroup_disabled()) {
		pn->memcg = root_mem_cgroup;
		pn->lruvec_stats_percpu =
			root_mem_cgroup->nodeinfo[first_online_node]->lruvec_stats_percpu;
	}
	ctx->lruvec = &pn->lruvec;
#else
	lruvec_init(&ctx->pgdat->__lruvec);
	ctx->lruvec = &ctx->pgdat->__lruvec;
#endif
}

static int vmscan_test_init(struct kunit *test)
{
	struct vmscan_ctx *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->task = current;
	ctx->sc.reclaim_idx = ELIGIBLE;
	ctx->sc.order = 3;
	ctx->sc.may_unmap = 1;
	ctx->mock.now = NSEC_PER_SEC;
	ctx->mock.step = NSEC_PER_MSEC;
	INIT_LIST_HEAD(&ctx->dst);
	INIT_LIST_HEAD(&ctx->stolen);

	kunit_bounded_iter_skip_on_rt(test);
	kunit_bounded_iter_init(test);
	init_test_node(test, ctx);
	init_test_lruvec(test, ctx);

	if (IS_ENABLED(CONFIG_TRACEPOINTS)) {
		KUNIT_ASSERT_EQ(test, 0,
				register_trace_mm_vmscan_lru_isolate(trace_probe, ctx));
		KUNIT_ASSERT_EQ(test, 0,
				kunit_add_action_or_reset(test,
							  unregister_trace_probe,
							  ctx));
	}
	return 0;
}

static void add_folio(struct kunit *test, enum folio_kind kind,
		      unsigned int order)
{
	struct vmscan_ctx *ctx = test->priv;
	struct test_folio *tf = &ctx->folios[ctx->nr_folios];
	struct folio *folio;

	folio = folio_alloc(GFP_KERNEL, order);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	tf->folio = folio;
	tf->kind = kind;
	tf->real_zid = folio_zonenum(folio);
	tf->zid = ELIGIBLE;
	if (kind == SKIP)
		tf->zid += 1 + ctx->nr_folios % (MAX_NR_ZONES - 1);
	set_page_zone(&folio->page, tf->zid);

	if (kind != ISOLATED)
		folio_set_lru(folio);
	if (kind == MAPPED)
		atomic_set(&folio->_mapcount, 0);
	if (kind == FROZEN)
		KUNIT_ASSERT_TRUE(test, folio_ref_freeze(folio, 1));

	spin_lock_irq(&ctx->lruvec->lru_lock);
	list_add(&folio->lru, &ctx->lruvec->lists[TEST_LRU]);
	update_lru_size(ctx->lruvec, TEST_LRU, tf->zid, folio_nr_pages(folio));
	spin_unlock_irq(&ctx->lruvec->lru_lock);
	ctx->nr_folios++;
}

/* @nr folios in a row of one kind and order. */
struct run {
	unsigned int nr;
	enum folio_kind kind;
	unsigned int order;
};

/* Takes what is on the lists off the counts, for nothing else knows of them. */
static void empty_test_lruvec(void *data)
{
	struct vmscan_ctx *ctx = data;
	enum zone_type zid;

	spin_lock_irq(&ctx->lruvec->lru_lock);
	for (zid = 0; zid < MAX_NR_ZONES; zid++) {
		struct folio *folio;
		long nr = 0;

		list_for_each_entry(folio, &ctx->lruvec->lists[TEST_LRU], lru)
			if (folio_zonenum(folio) == zid)
				nr += folio_nr_pages(folio);
		update_lru_size(ctx->lruvec, TEST_LRU, zid, -nr);
	}
	spin_unlock_irq(&ctx->lruvec->lru_lock);
}

/* Build the LRU list, the folio that is scanned first to begin with. */
static void build_list(struct kunit *test, const struct run *runs,
		       unsigned int nr_runs)
{
	struct vmscan_ctx *ctx = test->priv;
	unsigned int i, j, nr = 0;

	for (i = 0; i < nr_runs; i++)
		nr += runs[i].nr;
	ctx->folios = kvcalloc(nr + 1, sizeof(*ctx->folios), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->folios);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, free_test_folios, ctx));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, empty_test_lruvec, ctx));

	for (i = 0; i < nr_runs; i++)
		for (j = 0; j < runs[i].nr; j++)
			add_folio(test, runs[i].kind, runs[i].order);
}

/* The function under test, as its callers call it. */
static void isolate(struct kunit *test, unsigned long nr_to_scan)
{
	struct vmscan_ctx *ctx = test->priv;
	int zid;

	all_vm_events(ctx->events_before);

	spin_lock_irq(&ctx->lruvec->lru_lock);
	ctx->nr_taken = isolate_lru_folios(nr_to_scan, ctx->lruvec, &ctx->dst,
					   &ctx->nr_scanned, &ctx->sc,
					   TEST_LRU);
	ctx->irqs_off_after = irqs_disabled();
	ctx->returned = true;
	spin_unlock_irq(&ctx->lruvec->lru_lock);

	all_vm_events(ctx->events_after);
	for (zid = 0; zid < MAX_NR_ZONES; zid++) {
		int item = PGSCAN_SKIP_NORMAL - ZONE_NORMAL + zid;

		ctx->nr_skipped[zid] = ctx->events_after[item] -
				       ctx->events_before[item];
	}
}

/* Whether @tf is at @lru on the private list, as one that was taken. */
static bool is_taken(struct test_folio *tf, struct list_head *lru)
{
	return lru == &tf->folio->lru && !folio_test_lru(tf->folio) &&
	       folio_ref_count(tf->folio) == 2;
}

/* Whether @tf is at @lru on the LRU list, as it was put there. */
static bool is_left(struct test_folio *tf, struct list_head *lru)
{
	return lru == &tf->folio->lru &&
	       folio_test_lru(tf->folio) == (tf->kind != ISOLATED) &&
	       folio_ref_count(tf->folio) == (tf->kind != FROZEN);
}

/*
 * Everything a call changes, given that it looked at @visited folios: those that
 * were taken are on the private list, the others behind the rest of the list, in
 * the order they were visited; and all counts say the same. The last pass can go
 * beyond the end of the list, to what was skipped first.
 */
static void expect_visited(struct kunit *test, unsigned long nr_to_scan,
			   unsigned int visited)
{
	struct vmscan_ctx *ctx = test->priv;
	unsigned long taken = 0, scanned = 0, skipped = 0, left = 0;
	unsigned long nr_skipped[MAX_NR_ZONES] = {};
	struct list_head *src = &ctx->lruvec->lists[TEST_LRU];
	struct list_head *on_src = src->prev, *on_dst = ctx->dst.prev;
	unsigned int misplaced = 0;
	unsigned int i;
	int zid;

	for (i = 0; i < visited; i++) {
		struct test_folio *tf = &ctx->folios[i % ctx->nr_folios];
		unsigned long nr_pages = folio_nr_pages(tf->folio);

		scanned += nr_pages;
		if (tf->kind == SKIP) {
			nr_skipped[tf->zid] += nr_pages;
			skipped += nr_pages;
		}
		if (tf->kind == OK) {
			taken += nr_pages;
			misplaced += !is_taken(tf, on_dst);
			on_dst = on_dst->prev;
		}
	}
	for (i = visited; i < visited + ctx->nr_folios; i++) {
		unsigned int nr = i % ctx->nr_folios;
		struct test_folio *tf = &ctx->folios[nr];

		if (nr >= visited || tf->kind != OK) {
			left += folio_nr_pages(tf->folio);
			misplaced += !is_left(tf, on_src);
			on_src = on_src->prev;
		}
	}
	KUNIT_EXPECT_EQ(test, misplaced, 0);
	KUNIT_EXPECT_PTR_EQ(test, on_src, src);
	KUNIT_EXPECT_PTR_EQ(test, on_dst, &ctx->dst);

	KUNIT_EXPECT_EQ(test, ctx->nr_taken, taken);
	KUNIT_EXPECT_EQ(test, ctx->nr_scanned, scanned);
	KUNIT_EXPECT_EQ(test, left,
			lruvec_lru_size(ctx->lruvec, TEST_LRU,
					MAX_NR_ZONES - 1));
	if (IS_ENABLED(CONFIG_VM_EVENT_COUNTERS))
		for (zid = 0; zid < MAX_NR_ZONES; zid++)
			KUNIT_EXPECT_EQ_MSG(test, ctx->nr_skipped[zid],
					    nr_skipped[zid], "zone %d", zid);
	if (IS_ENABLED(CONFIG_TRACEPOINTS)) {
		KUNIT_EXPECT_EQ(test, ctx->trace.events, 1);
		KUNIT_EXPECT_EQ(test, ctx->trace.highest_zoneidx, ELIGIBLE);
		KUNIT_EXPECT_EQ(test, ctx->trace.order, 3);
		KUNIT_EXPECT_EQ(test, ctx->trace.nr_requested, nr_to_scan);
		KUNIT_EXPECT_EQ(test, ctx->trace.nr_scanned, scanned);
		KUNIT_EXPECT_EQ(test, ctx->trace.nr_skipped, skipped);
		KUNIT_EXPECT_EQ(test, ctx->trace.nr_taken, taken);
		KUNIT_EXPECT_EQ(test, ctx->trace.lru, TEST_LRU);
	}
	KUNIT_EXPECT_TRUE(test, ctx->irqs_off_after);
	KUNIT_EXPECT_EQ(test, ctx->mock.asked, 0);
}

/*
 * @visited: how many folios the call looks at
 * @looks: how often it looks at the clock
 */
struct isolate_param {
	const char *desc;
	struct run runs[5];
	unsigned int visited;
	unsigned int looks;
};

static const struct isolate_param isolate_params[] = {
	{ "empty list", { }, 0, 0 },
	{ "all eligible", { { 100, OK } }, 32, 0 },
	{ "few eligible", { { 5, OK } }, 5, 0 },
	{ "all ineligible, one batch", { { 32, SKIP } }, 32, 0 },
	{ "all ineligible, one more", { { 33, SKIP } }, 33, 1 },
	{ "all ineligible, one pass", { { PASS, SKIP } }, PASS, 1 },
	{ "all ineligible, one more than a pass",
	  { { PASS + 1, SKIP } }, 2 * PASS, 4 },
	{ "all ineligible, two passes", { { 2 * PASS, SKIP } }, 2 * PASS, 4 },
	{ "all ineligible, 15 passes and a batch",
	  { { 15 * PASS + 32, SKIP } }, 16 * PASS, 32 },
	{ "all ineligible, large, three passes",
	  { { 3 * PASS - 1, SKIP, 2 } }, 3 * PASS, 6 },
	{ "budget spent at the first eligible one",
	  { { PASS, SKIP }, { 1, OK }, { 200, SKIP } }, 2 * PASS, 4 },
	{ "budget spent right behind an eligible one",
	  { { PASS - 1, SKIP }, { 1, OK }, { 200, SKIP } }, PASS, 2 },
	{ "budget spent at the last folio",
	  { { PASS, SKIP }, { 1, OK } }, 2 * PASS, 4 },
	{ "first one eligible, the rest not",
	  { { 1, OK }, { 999, SKIP } }, PASS, 2 },
	{ "one eligible behind many",
	  { { 999, SKIP }, { 1, OK } }, 16 * PASS, 32 },
	{ "one eligible in the middle",
	  { { 500, SKIP }, { 1, OK }, { 500, SKIP } }, 8 * PASS, 16 },
	{ "enough eligible behind many",
	  { { 600, SKIP }, { 100, OK } }, 632, 19 },
	{ "enough eligible before many",
	  { { 20, SKIP }, { 32, OK }, { 500, SKIP } }, 52, 1 },
	{ "some eligible before many",
	  { { 20, SKIP }, { 31, OK }, { 500, SKIP } }, PASS, 2 },
	{ "large folios", { { 20, OK, 2 } }, 8, 0 },
	{ "a large folio that crosses the end",
	  { { 31, OK }, { 2, OK, 4 } }, 32, 0 },
	{ "large ineligible folios count as one each",
	  { { 40, SKIP, 4 } }, 40, 1 },
	{ "large ineligible folios, two passes",
	  { { PASS + 10, SKIP, 3 }, { 4, OK, 3 } }, PASS + 14, 2 },
	{ "reference cannot be taken, then eligible",
	  { { 10, FROZEN }, { 100, OK } }, 32, 0 },
	{ "isolated by others, then eligible",
	  { { 10, ISOLATED }, { 100, OK } }, 32, 0 },
	{ "ineligible, then a reference that cannot be taken",
	  { { PASS, FROZEN } }, 32, 0 },
	{ "a reference that cannot be taken behind many",
	  { { 3 * PASS, SKIP }, { 100, FROZEN } }, 3 * PASS + 32, 6 },
};

KUNIT_ARRAY_PARAM_DESC(isolate, isolate_params, desc);

static void isolate_visits(struct kunit *test)
{
	const struct isolate_param *param = test->param_value;
	struct vmscan_ctx *ctx = test->priv;

	build_list(test, param->runs, ARRAY_SIZE(param->runs));
	isolate(test, SWAP_CLUSTER_MAX);
	expect_visited(test, SWAP_CLUSTER_MAX, param->visited);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, param->looks);
}

/* Every other folio is eligible: the call ends with what it was asked for. */
static void isolate_from_a_mixed_list(struct kunit *test)
{
	struct vmscan_ctx *ctx = test->priv;
	struct run runs[100];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(runs); i++)
		runs[i] = (struct run) { 1, i % 2 ? SKIP : OK };
	build_list(test, runs, ARRAY_SIZE(runs));
	isolate(test, 32);
	expect_visited(test, 32, 63);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 1);
}

/* A second call goes on where the first was cut short: nothing is lost. */
static void second_call_goes_on(struct kunit *test)
{
	static const struct run runs[] = {
		{ 1, OK }, { PASS - 1, SKIP }, { 1, OK }, { 10, SKIP },
	};
	struct vmscan_ctx *ctx = test->priv;

	build_list(test, runs, ARRAY_SIZE(runs));
	isolate(test, 32);
	expect_visited(test, 32, PASS);

	isolate(test, 32);
	KUNIT_EXPECT_EQ(test, ctx->nr_taken, 1);
	KUNIT_EXPECT_PTR_EQ(test, ctx->dst.next, &ctx->folios[PASS].folio->lru);
}

static void mapped_folios_stay_without_may_unmap(struct kunit *test)
{
	static const struct run runs[] = {
		{ 70, SKIP }, { 10, MAPPED }, { 10, OK },
	};
	struct vmscan_ctx *ctx = test->priv;

	ctx->sc.may_unmap = 0;
	build_list(test, runs, ARRAY_SIZE(runs));
	isolate(test, 32);
	KUNIT_EXPECT_EQ(test, ctx->nr_taken, 10);
	KUNIT_EXPECT_EQ(test, ctx->nr_scanned, 2 * PASS);
}

/*
 * In a pass, what cannot be taken goes to the head at once and what is skipped
 * follows at the end of it: all of them are on the list and none was lost.
 */
static void nothing_taken_from_a_mixed_list(struct kunit *test)
{
	static const struct run runs[] = {
		{ 60, SKIP }, { 10, FROZEN }, { 60, SKIP },
	};
	struct vmscan_ctx *ctx = test->priv;
	struct folio *folio;
	unsigned int nr = 0;

	build_list(test, runs, ARRAY_SIZE(runs));
	isolate(test, 32);
	KUNIT_EXPECT_EQ(test, ctx->nr_taken, 0);
	KUNIT_EXPECT_EQ(test, ctx->nr_scanned, 3 * PASS);
	KUNIT_EXPECT_TRUE(test, list_empty(&ctx->dst));
	list_for_each_entry(folio, &ctx->lruvec->lists[TEST_LRU], lru)
		nr++;
	KUNIT_EXPECT_EQ(test, nr, 130);
}

/* As another CPU would: take the lock, look at the list, maybe take it all. */
static int lru_waiter(void *data)
{
	struct vmscan_ctx *ctx = data;
	struct list_head *src = &ctx->lruvec->lists[TEST_LRU];
	struct folio *folio;

	while (kunit_bounded_iter_wait(&ctx->mock)) {
		if (ctx->returned)
			continue;
		ctx->pauses++;
		if (!spin_trylock_irq(&ctx->lruvec->lru_lock)) {
			ctx->lock_was_taken = true;
			continue;
		}
		ctx->nr_on_list = 0;
		ctx->nr_lru_set = 0;
		list_for_each_entry(folio, src, lru) {
			ctx->nr_on_list++;
			ctx->nr_lru_set += folio_test_lru(folio);
		}
		if (ctx->steal)
			list_splice_init(src, &ctx->stolen);
		spin_unlock_irq(&ctx->lruvec->lru_lock);
	}
	return 0;
}

/* Between passes the lock is free, interrupts are on, and nothing is hidden. */
static void pause_lets_others_in(struct kunit *test)
{
	static const struct run runs[] = { { 10 * PASS, SKIP }, { 1, OK } };
	struct vmscan_ctx *ctx = test->priv;

	build_list(test, runs, ARRAY_SIZE(runs));
	kunit_bounded_iter_waiter(test, lru_waiter);
	ctx->mock.wake_at = 1;
	isolate(test, 32);
	expect_visited(test, 32, 11 * PASS);
	KUNIT_EXPECT_EQ(test, ctx->pauses, 10);
	KUNIT_EXPECT_FALSE(test, ctx->lock_was_taken);
	KUNIT_EXPECT_EQ(test, ctx->nr_on_list, 10 * PASS + 1);
	KUNIT_EXPECT_EQ(test, ctx->nr_lru_set, 10 * PASS + 1);
}

/* With something taken there is no pause: folios in hand are not sat upon. */
static void no_pause_with_folios_in_hand(struct kunit *test)
{
	static const struct run runs[] = { { 1, OK }, { 1000, SKIP } };
	struct vmscan_ctx *ctx = test->priv;

	build_list(test, runs, ARRAY_SIZE(runs));
	kunit_bounded_iter_waiter(test, lru_waiter);
	ctx->mock.wake_at = 1;
	isolate(test, 32);
	expect_visited(test, 32, PASS);
	KUNIT_EXPECT_EQ(test, ctx->pauses, 0);
}

/* The third look is the first one a millisecond after the first one. */
static void budget_is_a_millisecond(struct kunit *test)
{
	static const struct run runs[] = { { 1000, SKIP }, { 1, OK } };
	struct vmscan_ctx *ctx = test->priv;

	ctx->mock.step = NSEC_PER_MSEC - 1;
	build_list(test, runs, ARRAY_SIZE(runs));
	isolate(test, 32);
	expect_visited(test, 32, 11 * 3 * BOUNDED_ITER_BATCH);
}

/* While the budget lasts there is no pause either. */
static void no_pause_within_the_budget(struct kunit *test)
{
	static const struct run runs[] = { { 1000, SKIP }, { 1, OK } };
	struct vmscan_ctx *ctx = test->priv;

	ctx->mock.step = NSEC_PER_MSEC / 1000;
	build_list(test, runs, ARRAY_SIZE(runs));
	kunit_bounded_iter_waiter(test, lru_waiter);
	ctx->mock.wake_at = 1;
	isolate(test, 32);
	expect_visited(test, 32, 1001);
	KUNIT_EXPECT_EQ(test, ctx->pauses, 0);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 31);
}

/* What the list was before a pause is not relied on after it. */
static void list_is_emptied_during_a_pause(struct kunit *test)
{
	static const struct run runs[] = { { 1000, SKIP }, { 1, OK } };
	struct vmscan_ctx *ctx = test->priv;

	build_list(test, runs, ARRAY_SIZE(runs));
	kunit_bounded_iter_waiter(test, lru_waiter);
	ctx->mock.wake_at = 4;
	ctx->steal = true;
	isolate(test, 32);
	list_splice_init(&ctx->stolen, &ctx->lruvec->lists[TEST_LRU]);
	KUNIT_EXPECT_EQ(test, ctx->pauses, 1);
	KUNIT_EXPECT_EQ(test, ctx->nr_on_list, 1001);
	KUNIT_EXPECT_EQ(test, ctx->nr_taken, 0);
	KUNIT_EXPECT_EQ(test, ctx->nr_scanned, 2 * PASS);
}

static struct kunit_case vmscan_test_cases[] = {
	KUNIT_CASE_PARAM(isolate_visits, isolate_gen_params),
	KUNIT_CASE(isolate_from_a_mixed_list),
	KUNIT_CASE(second_call_goes_on),
	KUNIT_CASE(mapped_folios_stay_without_may_unmap),
	KUNIT_CASE(nothing_taken_from_a_mixed_list),
	KUNIT_CASE(pause_lets_others_in),
	KUNIT_CASE(no_pause_with_folios_in_hand),
	KUNIT_CASE(budget_is_a_millisecond),
	KUNIT_CASE(no_pause_within_the_budget),
	KUNIT_CASE(list_is_emptied_during_a_pause),
	{}
};

static struct kunit_suite vmscan_test_suite = {
	.name = "vmscan",
	.init = vmscan_test_init,
	.test_cases = vmscan_test_cases,
};

kunit_test_suite(vmscan_test_suite);
