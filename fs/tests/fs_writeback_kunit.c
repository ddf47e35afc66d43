// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test for fs_writeback: real inodes of real superblocks on a real
 * bdi_writeback, whose flusher is the test itself: the bdi is not registered,
 * so no work is queued and wb_writeback() is called directly. Included by
 * fs/fs-writeback.c.
 */
#include <kunit/bounded_iter.h>
#include <linux/fs_context.h>
#include <linux/pseudo_fs.h>

#define MAX_SBS		(WB_SB_GROUPS + 1)

/* Looks at the clock are a budget apart: a hold ends after two batches. */
#define HOLD		(2 * BOUNDED_ITER_BATCH)

struct writeback_ctx {
	struct kunit_bounded_iter mock;
	struct backing_dev_info *bdi;
	struct bdi_writeback *wb;
	struct vfsmount *mnt[MAX_SBS];
	struct inode **inodes;
	unsigned int nr_inodes;
	unsigned long now;

	/* what the flusher did */
	unsigned int written[MAX_SBS];
	unsigned int unplugged;
	bool unplugged_by_schedule;
	unsigned int queue_io_events;
	int queue_io_moved;
	bool returned;

	/* what the waiter found, at each chance it got */
	unsigned int chances;
	unsigned int most_moved;
	unsigned int nr_io;
	unsigned int first_nr_io;
	bool had_dirty_io;
};

static int sb_nr(struct writeback_ctx *ctx, struct super_block *sb)
{
	int i;

	for (i = 0; i < MAX_SBS; i++)
		if (ctx->mnt[i] && ctx->mnt[i]->mnt_sb == sb)
			return i;
	return -1;
}

static int test_write_inode(struct inode *inode, struct writeback_control *wbc)
{
	struct writeback_ctx *ctx = kunit_get_current_test()->priv;

	ctx->written[sb_nr(ctx, inode->i_sb)]++;
	return 0;
}

static int drop_test_inode(struct inode *inode)
{
	return 1;
}

static const struct super_operations test_super_operations = {
	.statfs		= simple_statfs,
	.drop_inode	= drop_test_inode,
	.write_inode	= test_write_inode,
};

static int test_init_fs_context(struct fs_context *fc)
{
	struct pseudo_fs_context *pfc = init_pseudo(fc, 0x62697465);

	if (!pfc)
		return -ENOMEM;
	pfc->ops = &test_super_operations;
	return 0;
}

static struct file_system_type test_fs_type = {
	.name			= "fs_writeback_kunit",
	.init_fs_context	= test_init_fs_context,
	.kill_sb		= kill_anon_super,
};

static void put_test_bdi(void *bdi)
{
	bdi_put(bdi);
}

static unsigned long state_of(struct inode *inode)
{
	return inode->i_state;
}

static void set_state(struct inode *inode, unsigned long flags)
{
	inode->i_state |= flags;
}

static void clear_state(struct inode *inode, unsigned long flags)
{
	inode->i_state &= ~flags;
}

static void unmount_test_fs(void *mnt)
{
	kern_unmount(mnt);
}

static void put_test_inodes(void *data)
{
	struct writeback_ctx *ctx = data;
	unsigned int i;

	for (i = 0; i < ctx->nr_inodes; i++) {
		struct inode *inode = ctx->inodes[i];

		spin_lock(&ctx->wb->list_lock);
		spin_lock(&inode->i_lock);
		clear_state(inode, I_DIRTY_ALL | I_SYNC_QUEUED | I_NEW);
		list_del_init(&inode->i_io_list);
		wb_io_lists_depopulated(ctx->wb);
		spin_unlock(&inode->i_lock);
		spin_unlock(&ctx->wb->list_lock);
		iput(inode);
	}
	kvfree(ctx->inodes);
}

static int writeback_test_init(struct kunit *test)
{
	struct writeback_ctx *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->now = jiffies;
	ctx->mock.now = NSEC_PER_SEC;
	ctx->mock.step = NSEC_PER_MSEC;
	ctx->mock.resched_from = 1;
	kunit_bounded_iter_skip_on_rt(test);
	kunit_bounded_iter_init(test);

	ctx->bdi = bdi_alloc(NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(test, ctx->bdi);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, put_test_bdi, ctx->bdi));
	ctx->wb = &ctx->bdi->wb;
	return 0;
}

/* File systems on partitions of one disk: they share its bdi. */
static void mount_sbs(struct kunit *test, unsigned int nr)
{
	struct writeback_ctx *ctx = test->priv;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct vfsmount *mnt = kern_mount(&test_fs_type);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mnt);
		KUNIT_ASSERT_EQ(test, 0,
				kunit_add_action_or_reset(test, unmount_test_fs,
							  mnt));
		mnt->mnt_sb->s_bdi = bdi_get(ctx->bdi);
		ctx->mnt[i] = mnt;
	}
}

static void alloc_inodes(struct kunit *test, unsigned int max)
{
	struct writeback_ctx *ctx = test->priv;

	ctx->inodes = kvcalloc(max, sizeof(*ctx->inodes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->inodes);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, put_test_inodes, ctx));
}

/* A new inode of superblock @sb, dirtied at @when: @flags as to mark_inode_dirty. */
static struct inode *dirty_inode(struct kunit *test, unsigned int sb,
				 int flags, unsigned long when)
{
	struct writeback_ctx *ctx = test->priv;
	struct inode *inode = new_inode(ctx->mnt[sb]->mnt_sb);

	KUNIT_ASSERT_NOT_NULL(test, inode);
	inode->i_ino = ctx->nr_inodes + 2;
	inode->i_mode = S_IFREG;
	insert_inode_hash(inode);
	ctx->inodes[ctx->nr_inodes++] = inode;
	__mark_inode_dirty(inode, flags);
	inode->dirtied_when = when;
	return inode;
}

/* @nr inodes, a jiffy apart, round robin over @sbs superblocks from @sb on. */
static void dirty_inodes(struct kunit *test, unsigned int nr, unsigned int sb,
			 unsigned int sbs, int flags, unsigned long when)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		dirty_inode(test, sb + i % sbs, flags, when + i);
}

static unsigned int list_length(struct list_head *head)
{
	struct list_head *pos;
	unsigned int nr = 0;

	list_for_each(pos, head)
		nr++;
	return nr;
}

/* The inodes @from to @to - 1, and no others, oldest at the tail of @list. */
static void expect_list(struct kunit *test, struct list_head *list,
			unsigned int from, unsigned int to, bool queued)
{
	struct writeback_ctx *ctx = test->priv;
	struct list_head *pos = list->prev;
	unsigned int misplaced = 0, misflagged = 0;
	unsigned int i;

	for (i = from; i < to && pos != list; i++, pos = pos->prev) {
		struct inode *inode = ctx->inodes[i];

		misplaced += pos != &inode->i_io_list;
		misflagged += queued != !!(state_of(inode) & I_SYNC_QUEUED);
	}
	KUNIT_EXPECT_EQ(test, misplaced, 0);
	KUNIT_EXPECT_EQ(test, misflagged, 0);
	KUNIT_EXPECT_EQ(test, i, to);
	KUNIT_EXPECT_PTR_EQ(test, pos, list);
}

static int move(struct writeback_ctx *ctx, unsigned long dirtied_before,
		struct bounded_iter *bi)
{
	int moved;

	spin_lock(&ctx->wb->list_lock);
	moved = move_expired_inodes(&ctx->wb->b_dirty, &ctx->wb->b_io,
				    dirtied_before, bi);
	spin_unlock(&ctx->wb->list_lock);
	return moved;
}

/*
 * @nr: inodes, of which the first @expired are
 * @resched_from: when need_resched() begins to say yes
 * @moved: how many are, and whether the walk was @truncated
 */
struct move_param {
	const char *desc;
	unsigned int nr;
	unsigned int expired;
	unsigned int resched_from;
	unsigned int moved;
	bool truncated;
};

static const struct move_param move_params[] = {
	{ "no inode", 0, 0, 1, 0, false },
	{ "one", 1, 1, 1, 1, false },
	{ "none expired", 100, 0, 1, 0, false },
	{ "some expired", 60, 40, 1, 40, false },
	{ "a hold of them", HOLD, HOLD, 1, HOLD, false },
	{ "one more than a hold", HOLD + 1, HOLD + 1, 1, HOLD, true },
	{ "a hold of them expired", HOLD + 1, HOLD, 1, HOLD, true },
	{ "many", 1000, 1000, 1, HOLD, true },
	{ "many, gate shut", 1000, 1000, 0, 1000, false },
	{ "many, gate opens late", 1000, 1000, 4, 160, true },
	{ "many, gate opens for the last batch", 200, 200, 5, 192, true },
};

KUNIT_ARRAY_PARAM_DESC(move, move_params, desc);

/* Order is kept, the rest untouched, and only what is moved is flagged. */
static void move_is_bounded(struct kunit *test)
{
	const struct move_param *param = test->param_value;
	struct writeback_ctx *ctx = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);
	unsigned long start = ctx->now - 2000;
	int moved;

	mount_sbs(test, 1);
	alloc_inodes(test, param->nr);
	dirty_inodes(test, param->nr, 0, 1, I_DIRTY_SYNC, start);
	ctx->mock.resched_from = param->resched_from;

	moved = move(ctx, start + param->expired - 1, &bi);
	KUNIT_EXPECT_EQ(test, moved, param->moved);
	KUNIT_EXPECT_EQ(test, bounded_iter_truncated(&bi), param->truncated);
	expect_list(test, &ctx->wb->b_io, 0, param->moved, true);
	expect_list(test, &ctx->wb->b_dirty, param->moved, param->nr, false);
}

/* New ones queue up behind those that wait for IO already. */
static void moved_inodes_queue_behind(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);
	unsigned long start = ctx->now - 2000;

	mount_sbs(test, 1);
	alloc_inodes(test, 100);
	dirty_inodes(test, 100, 0, 1, I_DIRTY_SYNC, start);
	KUNIT_EXPECT_EQ(test, move(ctx, start + 29, &bi), 30);
	bounded_iter_restart(&bi);
	KUNIT_EXPECT_EQ(test, move(ctx, start + 49, &bi), 20);
	expect_list(test, &ctx->wb->b_io, 0, 50, true);
	expect_list(test, &ctx->wb->b_dirty, 50, 100, false);
}

/* Inodes of block devices are bounded like others. */
static void block_device_inodes_only(struct kunit *test)
{
#ifdef CONFIG_BLOCK
	struct writeback_ctx *ctx = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);
	unsigned int i;

	alloc_inodes(test, 200);
	for (i = 0; i < 200; i++) {
		struct inode *inode = new_inode(blockdev_superblock);

		KUNIT_ASSERT_NOT_NULL(test, inode);
		ctx->inodes[ctx->nr_inodes++] = inode;
		inode->dirtied_when = ctx->now - 1000 + i;
		spin_lock(&ctx->wb->list_lock);
		spin_lock(&inode->i_lock);
		inode_io_list_move_locked(inode, ctx->wb, &ctx->wb->b_dirty);
		spin_unlock(&inode->i_lock);
		spin_unlock(&ctx->wb->list_lock);
	}

	KUNIT_EXPECT_EQ(test, move(ctx, ctx->now, &bi), HOLD);
	KUNIT_EXPECT_TRUE(test, bounded_iter_truncated(&bi));
	expect_list(test, &ctx->wb->b_io, 0, HOLD, true);
	expect_list(test, &ctx->wb->b_dirty, HOLD, 200, false);
#else
	kunit_skip(test, "needs CONFIG_BLOCK");
#endif
}

struct group_param {
	const char *desc;
	unsigned int sbs;
	unsigned int nr;
};

static const struct group_param group_params[] = {
	{ "1 superblock", 1, 20 },
	{ "2 superblocks", 2, 20 },
	{ "3 superblocks", 3, 20 },
	{ "3 superblocks, a hold of inodes", 3, HOLD },
	{ "3 superblocks, cut short", 3, 100 },
	{ "as many as there are groups", WB_SB_GROUPS, HOLD },
};

KUNIT_ARRAY_PARAM_DESC(group, group_params, desc);

/* Side by side by superblock, the oldest of each first, in one hold. */
static void superblocks_side_by_side(struct kunit *test)
{
	const struct group_param *param = test->param_value;
	struct writeback_ctx *ctx = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);
	unsigned int moved = min(param->nr, HOLD);
	unsigned int misplaced = 0;
	struct list_head *pos;
	unsigned int i, sb;

	mount_sbs(test, param->sbs);
	alloc_inodes(test, param->nr);
	dirty_inodes(test, param->nr, 0, param->sbs, I_DIRTY_SYNC,
		     ctx->now - 1000);

	KUNIT_EXPECT_EQ(test, move(ctx, ctx->now, &bi), moved);
	KUNIT_EXPECT_LE(test, ctx->mock.looks, 2);
	pos = ctx->wb->b_io.prev;
	for (sb = 0; sb < param->sbs; sb++)
		for (i = sb; i < moved; i += param->sbs) {
			misplaced += wb_inode(pos) != ctx->inodes[i];
			pos = pos->prev;
		}
	KUNIT_EXPECT_EQ(test, misplaced, 0);
	KUNIT_EXPECT_PTR_EQ(test, pos, &ctx->wb->b_io);
	expect_list(test, &ctx->wb->b_dirty, moved, param->nr, false);
}

/* One superblock too many: no inode is lost, and each sb's order is kept. */
static void more_superblocks_than_groups(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);
	unsigned long latest[MAX_SBS] = {};
	struct inode *inode;

	mount_sbs(test, MAX_SBS);
	alloc_inodes(test, HOLD);
	dirty_inodes(test, HOLD, 0, MAX_SBS, I_DIRTY_SYNC, ctx->now - 1000);

	KUNIT_EXPECT_EQ(test, move(ctx, ctx->now, &bi), HOLD);
	KUNIT_EXPECT_EQ(test, list_length(&ctx->wb->b_io), HOLD);
	list_for_each_entry_reverse(inode, &ctx->wb->b_io, i_io_list) {
		int sb = sb_nr(ctx, inode->i_sb);

		KUNIT_EXPECT_GT(test, inode->i_ino, latest[sb]);
		latest[sb] = inode->i_ino;
	}
}

/* As another task that dirties an inode would: take list_lock when it is free. */
static int list_lock_waiter(void *data)
{
	struct writeback_ctx *ctx = data;

	while (kunit_bounded_iter_wait(&ctx->mock)) {
		unsigned int nr_io;

		if (ctx->returned)
			continue;
		spin_lock(&ctx->wb->list_lock);
		nr_io = list_length(&ctx->wb->b_io);
		ctx->had_dirty_io = wb_has_dirty_io(ctx->wb);
		spin_unlock(&ctx->wb->list_lock);
		if (!ctx->chances++)
			ctx->first_nr_io = nr_io;
		ctx->most_moved = max_t(unsigned int, ctx->most_moved,
					abs((int)nr_io - (int)ctx->nr_io));
		ctx->nr_io = nr_io;
	}
	return 0;
}

static void start_waiter(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;

	kunit_bounded_iter_waiter(test, list_lock_waiter);
	ctx->mock.wake_at = 1;
}

static void queue(struct writeback_ctx *ctx, struct wb_writeback_work *work)
{
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);

	spin_lock(&ctx->wb->list_lock);
	queue_io(ctx->wb, work, ctx->now, &bi);
	ctx->returned = true;
	spin_unlock(&ctx->wb->list_lock);
}

/* Everything expired is queued, a hold at a time. */
static void queue_io_is_complete(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { .for_sync = 1 };

	mount_sbs(test, 1);
	alloc_inodes(test, 1000);
	dirty_inodes(test, 990, 0, 1, I_DIRTY_SYNC, ctx->now - 2000);
	dirty_inodes(test, 10, 0, 1, I_DIRTY_SYNC, ctx->now + 1);
	start_waiter(test);

	queue(ctx, &work);
	expect_list(test, &ctx->wb->b_io, 0, 990, true);
	expect_list(test, &ctx->wb->b_dirty, 990, 1000, false);
	KUNIT_EXPECT_EQ(test, ctx->chances, 15);
	KUNIT_EXPECT_EQ(test, ctx->most_moved, HOLD);
}

/* While nobody waits for the CPU, list_lock is not dropped. */
static void queue_io_with_the_gate_shut(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { .for_sync = 1 };

	mount_sbs(test, 1);
	alloc_inodes(test, 1000);
	dirty_inodes(test, 1000, 0, 1, I_DIRTY_SYNC, ctx->now - 2000);
	start_waiter(test);
	ctx->mock.resched_from = 0;

	queue(ctx, &work);
	expect_list(test, &ctx->wb->b_io, 0, 1000, true);
	KUNIT_EXPECT_EQ(test, ctx->chances, 0);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 1);
}

/* b_dirty and b_dirty_time share one budget, and come in this order. */
static void queue_io_shares_the_budget(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { .for_sync = 1 };

	mount_sbs(test, 1);
	alloc_inodes(test, 250);
	dirty_inodes(test, 50, 0, 1, I_DIRTY_SYNC, ctx->now - 1000);
	dirty_inodes(test, 200, 0, 1, I_DIRTY_TIME, ctx->now - 2000);
	start_waiter(test);

	queue(ctx, &work);
	expect_list(test, &ctx->wb->b_io, 0, 250, true);
	KUNIT_EXPECT_EQ(test, ctx->first_nr_io, HOLD);
	KUNIT_EXPECT_EQ(test, ctx->most_moved, HOLD);
	KUNIT_EXPECT_EQ(test, ctx->chances, 3);
}

static void queue_io_probe(void *data, struct bdi_writeback *wb,
			   struct wb_writeback_work *work,
			   unsigned long dirtied_before, int moved)
{
	struct writeback_ctx *ctx = data;

	if (wb != ctx->wb)
		return;
	ctx->queue_io_events++;
	ctx->queue_io_moved = moved;
}

static void unregister_queue_io_probe(void *ctx)
{
	unregister_trace_writeback_queue_io(queue_io_probe, ctx);
	tracepoint_synchronize_unregister();
}

/* However many holds it takes, it is one event with the sum of both lists. */
static void queue_io_traces_the_sum(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { .for_sync = 1 };

	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "needs CONFIG_TRACEPOINTS");

	mount_sbs(test, 1);
	alloc_inodes(test, 1000);
	dirty_inodes(test, 600, 0, 1, I_DIRTY_SYNC, ctx->now - 1000);
	dirty_inodes(test, 400, 0, 1, I_DIRTY_TIME, ctx->now - 2000);
	KUNIT_ASSERT_EQ(test, 0,
			register_trace_writeback_queue_io(queue_io_probe, ctx));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test,
						  unregister_queue_io_probe,
						  ctx));

	queue(ctx, &work);
	KUNIT_EXPECT_EQ(test, ctx->queue_io_events, 1);
	KUNIT_EXPECT_EQ(test, ctx->queue_io_moved, 1000);
}

#ifdef CONFIG_BLOCK
static void unplug(struct blk_plug_cb *cb, bool from_schedule)
{
	struct writeback_ctx *ctx = cb->data;

	ctx->unplugged++;
	ctx->unplugged_by_schedule |= from_schedule;
	kfree(cb);
}
#endif

/* Nobody waits for IO that is plugged while others have the CPU. */
static void plugged_io_goes_out_first(struct kunit *test)
{
#ifdef CONFIG_BLOCK
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { .for_sync = 1 };
	unsigned int unplugged;
	struct blk_plug plug;

	mount_sbs(test, 1);
	alloc_inodes(test, HOLD + 1);
	dirty_inodes(test, HOLD + 1, 0, 1, I_DIRTY_SYNC, ctx->now - 1000);

	blk_start_plug(&plug);
	KUNIT_EXPECT_NOT_NULL(test, blk_check_plugged(unplug, ctx,
						      sizeof(struct blk_plug_cb)));
	queue(ctx, &work);
	unplugged = ctx->unplugged;
	blk_finish_plug(&plug);
	KUNIT_EXPECT_EQ(test, unplugged, 1);
	KUNIT_EXPECT_FALSE(test, ctx->unplugged_by_schedule);
#else
	kunit_skip(test, "needs CONFIG_BLOCK");
#endif
}

/* A sync must see the wb as dirty while list_lock is dropped. */
static void queue_io_of_timestamps_only(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { .for_sync = 1 };

	mount_sbs(test, 1);
	alloc_inodes(test, 100);
	dirty_inodes(test, 100, 0, 1, I_DIRTY_TIME, ctx->now - 1000);
	start_waiter(test);
	KUNIT_EXPECT_FALSE(test, wb_has_dirty_io(ctx->wb));

	queue(ctx, &work);
	KUNIT_EXPECT_EQ(test, ctx->chances, 1);
	KUNIT_EXPECT_TRUE(test, ctx->had_dirty_io);
	KUNIT_EXPECT_TRUE(test, wb_has_dirty_io(ctx->wb));
	expect_list(test, &ctx->wb->b_io, 0, 100, true);
}

/* Timestamps that have not expired stay, unless it is for sync(). */
static void queue_io_leaves_young_timestamps(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { };

	mount_sbs(test, 1);
	alloc_inodes(test, 200);
	dirty_inodes(test, 100, 0, 1, I_DIRTY_SYNC, ctx->now - 1000);
	dirty_inodes(test, 100, 0, 1, I_DIRTY_TIME, ctx->now - 1000);

	queue(ctx, &work);
	expect_list(test, &ctx->wb->b_io, 0, 100, true);
	expect_list(test, &ctx->wb->b_dirty_time, 100, 200, false);
}

/* Slices that were used up go first. */
static void queue_io_takes_b_more_io_first(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { };
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);

	mount_sbs(test, 1);
	alloc_inodes(test, 200);
	dirty_inodes(test, 200, 0, 1, I_DIRTY_SYNC, ctx->now - 1000);
	KUNIT_EXPECT_EQ(test, move(ctx, ctx->now - 990, &bi), 11);
	list_splice_init(&ctx->wb->b_io, &ctx->wb->b_more_io);

	queue(ctx, &work);
	expect_list(test, &ctx->wb->b_io, 0, 200, true);
}

/*
 * Two partitions of a disk: a sync of one, whose inodes are behind more of the
 * other than a hold covers. Ending the work early would lose data.
 *
 * @when: when the others were dirtied, relative to now, and @apart each other
 */
struct sync_param {
	const char *desc;
	enum writeback_sync_modes sync_mode;
	unsigned int for_sync;
	int when;
	int apart;
	unsigned int resched_from;
};

static const struct sync_param sync_params[] = {
	{ "sync, foreign inodes are older", WB_SYNC_ALL, 1, -2000, 1, 1 },
	{ "sync, all dirtied at once", WB_SYNC_ALL, 1, 0, 0, 1 },
	{ "sync, all dirtied at once and long ago", WB_SYNC_ALL, 1, -2000, 0, 1 },
	{ "sync, gate shut", WB_SYNC_ALL, 1, -2000, 1, 0 },
	{ "sync, gate opens late", WB_SYNC_ALL, 1, -2000, 1, 40 },
	{ "not for sync(2)", WB_SYNC_ALL, 0, -2000, 1, 1 },
	{ "start only", WB_SYNC_NONE, 0, -2000, 1, 1 },
	{ "start only, all dirtied at once", WB_SYNC_NONE, 0, 0, 0, 1 },
};

KUNIT_ARRAY_PARAM_DESC(sync, sync_params, desc);

static void sync_behind_foreign_inodes(struct kunit *test)
{
	const struct sync_param *param = test->param_value;
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = {
		.nr_pages	= LONG_MAX,
		.sync_mode	= param->sync_mode,
		.for_sync	= param->for_sync,
		.reason		= WB_REASON_SYNC,
	};
	unsigned int clean = 0, queued = 0;
	unsigned int i;

	mount_sbs(test, 2);
	work.sb = ctx->mnt[0]->mnt_sb;
	alloc_inodes(test, 1010);
	for (i = 0; i < 1000; i++)
		dirty_inode(test, 1, I_DIRTY_SYNC,
			    ctx->now + param->when + (int)i * param->apart);
	for (i = 0; i < 10; i++)
		dirty_inode(test, 0, I_DIRTY_SYNC, ctx->now);
	ctx->mock.resched_from = param->resched_from;
	start_waiter(test);

	wb_writeback(ctx->wb, &work);
	ctx->returned = true;

	KUNIT_EXPECT_EQ(test, ctx->written[0], 10);
	KUNIT_EXPECT_EQ(test, ctx->written[1], 0);
	for (i = 0; i < 1010; i++) {
		clean += !(state_of(ctx->inodes[i]) & I_DIRTY_ALL);
		queued += !!(state_of(ctx->inodes[i]) & I_SYNC_QUEUED);
	}
	KUNIT_EXPECT_EQ(test, clean, 10);
	KUNIT_EXPECT_EQ(test, queued, 0);
	KUNIT_EXPECT_EQ(test, list_length(&ctx->wb->b_dirty), 1000);
	KUNIT_EXPECT_TRUE(test, list_empty(&ctx->wb->b_io));
	if (param->resched_from == 1)
		KUNIT_EXPECT_LE(test, ctx->most_moved, HOLD + 10);
	if (param->resched_from == 0)
		KUNIT_EXPECT_LE(test, ctx->mock.looks, 2);
}

/* Putting foreign inodes back is part of the hold that moved them. */
static void putting_back_is_bounded(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { .sync_mode = WB_SYNC_ALL };
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);

	mount_sbs(test, 2);
	work.sb = ctx->mnt[0]->mnt_sb;
	alloc_inodes(test, 1000);
	dirty_inodes(test, 1000, 1, 1, I_DIRTY_SYNC, ctx->now - 2000);
	ctx->mock.resched_from = 0;
	queue(ctx, &work);
	ctx->returned = false;
	ctx->mock.resched_from = 1;
	ctx->nr_io = 1000;
	start_waiter(test);

	spin_lock(&ctx->wb->list_lock);
	/* A hold that has 10 items of its first batch left. */
	bi.left -= BOUNDED_ITER_BATCH - 10;
	KUNIT_EXPECT_EQ(test, 0,
			writeback_sb_inodes(work.sb, ctx->wb, &work, &bi));
	ctx->returned = true;
	spin_unlock(&ctx->wb->list_lock);

	KUNIT_EXPECT_EQ(test, ctx->first_nr_io, 1000 - 10 - BOUNDED_ITER_BATCH);
	KUNIT_EXPECT_EQ(test, ctx->most_moved, HOLD);
	KUNIT_EXPECT_EQ(test, ctx->chances, 15);
	KUNIT_EXPECT_EQ(test, list_length(&ctx->wb->b_dirty), 1000);
	KUNIT_EXPECT_TRUE(test, list_empty(&ctx->wb->b_io));
}

/* The same for the inodes of a superblock that is busy otherwise. */
static void putting_back_for_a_locked_superblock(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { .nr_pages = LONG_MAX };
	struct super_block *sb;

	mount_sbs(test, 1);
	sb = ctx->mnt[0]->mnt_sb;
	alloc_inodes(test, 1000);
	dirty_inodes(test, 1000, 0, 1, I_DIRTY_SYNC, ctx->now - 2000);
	start_waiter(test);

	down_write(&sb->s_umount);
	KUNIT_EXPECT_EQ(test, wb_writeback(ctx->wb, &work), 0);
	ctx->returned = true;
	up_write(&sb->s_umount);

	KUNIT_EXPECT_EQ(test, ctx->written[0], 0);
	KUNIT_EXPECT_EQ(test, ctx->most_moved, HOLD);
	KUNIT_EXPECT_EQ(test, ctx->chances, 31);
	KUNIT_EXPECT_EQ(test, list_length(&ctx->wb->b_dirty), 1000);
	KUNIT_EXPECT_TRUE(test, list_empty(&ctx->wb->b_io));
}

/* New inodes are nobody's business yet; there may be many. */
static void putting_back_new_inodes(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = {
		.nr_pages	= LONG_MAX,
		.sync_mode	= WB_SYNC_ALL,
	};
	unsigned int i;

	mount_sbs(test, 1);
	work.sb = ctx->mnt[0]->mnt_sb;
	alloc_inodes(test, 501);
	for (i = 0; i < 500; i++)
		set_state(dirty_inode(test, 0, I_DIRTY_SYNC, ctx->now - 2000),
			  I_NEW);
	dirty_inode(test, 0, I_DIRTY_SYNC, ctx->now);
	start_waiter(test);

	wb_writeback(ctx->wb, &work);
	ctx->returned = true;
	KUNIT_EXPECT_EQ(test, ctx->written[0], 1);
	KUNIT_EXPECT_LE(test, ctx->most_moved, HOLD);
	KUNIT_EXPECT_EQ(test, list_length(&ctx->wb->b_dirty), 500);
}

/* Each inode that is written is a hold of its own: no time, no looks. */
static void writing_restarts_the_budget(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = {
		.sync_mode	= WB_SYNC_ALL,
		.nr_pages	= LONG_MAX,
	};
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);

	mount_sbs(test, 1);
	work.sb = ctx->mnt[0]->mnt_sb;
	alloc_inodes(test, 500);
	dirty_inodes(test, 500, 0, 1, I_DIRTY_SYNC, ctx->now - 2000);
	ctx->mock.resched_from = 0;
	queue(ctx, &work);
	ctx->mock.looks = 0;
	ctx->mock.resched_from = 1;

	spin_lock(&ctx->wb->list_lock);
	writeback_sb_inodes(work.sb, ctx->wb, &work, &bi);
	spin_unlock(&ctx->wb->list_lock);
	KUNIT_EXPECT_EQ(test, ctx->written[0], 500);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 0);
}

/* Somebody else's writeback of an inode ends when the flusher waits for it. */
static int complete_inode_sync(void *data)
{
	struct writeback_ctx *ctx = data;

	while (kunit_bounded_iter_wait(&ctx->mock)) {
		struct inode *inode = ctx->inodes[31];

		spin_lock(&inode->i_lock);
		inode_sync_complete(inode);
		spin_unlock(&inode->i_lock);
	}
	return 0;
}

/* The same for each inode that is waited for. */
static void waiting_restarts_the_budget(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = {
		.sync_mode	= WB_SYNC_ALL,
		.nr_pages	= LONG_MAX,
	};
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);
	unsigned int i;

	mount_sbs(test, 1);
	work.sb = ctx->mnt[0]->mnt_sb;
	alloc_inodes(test, 63);
	for (i = 0; i < 63; i++)
		set_state(dirty_inode(test, 0, I_DIRTY_SYNC,
				      ctx->now - 2000 + i),
			  i == 31 ? I_SYNC : i == 62 ? 0 : I_NEW);
	ctx->mock.resched_from = 0;
	queue(ctx, &work);
	ctx->mock.looks = 0;
	ctx->mock.resched_from = 1;
	kunit_bounded_iter_waiter(test, complete_inode_sync);

	spin_lock(&ctx->wb->list_lock);
	ctx->mock.woken = true;
	wake_up_process(ctx->mock.waiter);
	writeback_sb_inodes(work.sb, ctx->wb, &work, &bi);
	spin_unlock(&ctx->wb->list_lock);
	KUNIT_EXPECT_EQ(test, ctx->written[0], 2);
	KUNIT_EXPECT_EQ(test, list_length(&ctx->wb->b_dirty), 61);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, 0);
}

/* @resched_from: with the gate open, a look ends every hold but the last. */
struct rescue_param {
	const char *desc;
	unsigned int resched_from;
	unsigned int looks;
};

static const struct rescue_param rescue_params[] = {
	{ "gate open", 1, 31 },
	{ "gate shut", 0, 1 },
};

KUNIT_ARRAY_PARAM_DESC(rescue, rescue_params, desc);

/* What the flusher does when it has no worker of its own. */
static void flush_by_the_rescuer(struct kunit *test)
{
	const struct rescue_param *param = test->param_value;
	struct writeback_ctx *ctx = test->priv;

	mount_sbs(test, 1);
	alloc_inodes(test, 1000);
	dirty_inodes(test, 1000, 0, 1, I_DIRTY_SYNC, ctx->now - 2000);
	ctx->mock.resched_from = param->resched_from;
	writeback_inodes_wb(ctx->wb, LONG_MAX, WB_REASON_FORKER_THREAD);
	KUNIT_EXPECT_EQ(test, ctx->written[0], 1000);
	KUNIT_EXPECT_EQ(test, ctx->mock.looks, param->looks);
}

/* The third look is the first one a millisecond after the first one. */
static void hold_of_the_flusher_is_a_millisecond(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = {
		.nr_pages	= LONG_MAX,
		.reason		= WB_REASON_VMSCAN,
	};

	mount_sbs(test, 1);
	alloc_inodes(test, 1000);
	dirty_inodes(test, 1000, 0, 1, I_DIRTY_SYNC, ctx->now - 2000);
	ctx->mock.step = NSEC_PER_MSEC - 1;
	start_waiter(test);

	wb_writeback(ctx->wb, &work);
	ctx->returned = true;
	KUNIT_EXPECT_EQ(test, ctx->first_nr_io, 3 * BOUNDED_ITER_BATCH);
}

static void hold_of_the_rescuer_is_a_millisecond(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;

	mount_sbs(test, 1);
	alloc_inodes(test, 1000);
	dirty_inodes(test, 1000, 0, 1, I_DIRTY_SYNC, ctx->now - 2000);
	ctx->mock.step = NSEC_PER_MSEC - 1;
	start_waiter(test);

	writeback_inodes_wb(ctx->wb, LONG_MAX, WB_REASON_FORKER_THREAD);
	ctx->returned = true;
	KUNIT_EXPECT_EQ(test, ctx->first_nr_io, 3 * BOUNDED_ITER_BATCH);
}

/* What flushes everything does, whatever the number of superblocks. */
static void flush_of_three_superblocks(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = {
		.nr_pages	= LONG_MAX,
		.range_cyclic	= 1,
		.reason		= WB_REASON_VMSCAN,
	};

	mount_sbs(test, 3);
	alloc_inodes(test, 900);
	dirty_inodes(test, 900, 0, 3, I_DIRTY_SYNC, ctx->now - 2000);
	start_waiter(test);

	wb_writeback(ctx->wb, &work);
	ctx->returned = true;
	KUNIT_EXPECT_EQ(test, ctx->written[0], 300);
	KUNIT_EXPECT_EQ(test, ctx->written[1], 300);
	KUNIT_EXPECT_EQ(test, ctx->written[2], 300);
	KUNIT_EXPECT_TRUE(test, list_empty(&ctx->wb->b_dirty));
	KUNIT_EXPECT_FALSE(test, wb_has_dirty_io(ctx->wb));
}

/* What one superblock wrote is not forgotten over one that wrote nothing. */
static void progress_is_that_of_all_superblocks(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = { .nr_pages = LONG_MAX };
	DEFINE_BOUNDED_ITER_RESCHED(bi, BOUNDED_ITER_BATCH, NSEC_PER_MSEC);
	long wrote;

	mount_sbs(test, 2);
	alloc_inodes(test, 2);
	dirty_inode(test, 0, I_DIRTY_SYNC, ctx->now - 2000);
	set_state(dirty_inode(test, 1, I_DIRTY_SYNC, ctx->now - 1000), I_NEW);
	queue(ctx, &work);

	spin_lock(&ctx->wb->list_lock);
	wrote = __writeback_inodes_wb(ctx->wb, &work, &bi);
	spin_unlock(&ctx->wb->list_lock);
	KUNIT_EXPECT_EQ(test, ctx->written[0], 1);
	KUNIT_EXPECT_EQ(test, ctx->written[1], 0);
	KUNIT_EXPECT_GT(test, wrote, 0);
}

/* Periodic writeback takes what is old, all of it, and nothing else. */
static void kupdate_takes_what_has_expired(struct kunit *test)
{
	struct writeback_ctx *ctx = test->priv;
	struct wb_writeback_work work = {
		.nr_pages	= LONG_MAX,
		.for_kupdate	= 1,
		.range_cyclic	= 1,
		.reason		= WB_REASON_PERIODIC,
	};
	unsigned long expire = msecs_to_jiffies(dirty_expire_interval * 10);

	mount_sbs(test, 2);
	alloc_inodes(test, 600);
	dirty_inodes(test, 500, 0, 2, I_DIRTY_SYNC, ctx->now - expire - 500);
	dirty_inodes(test, 100, 0, 2, I_DIRTY_SYNC, ctx->now);

	wb_writeback(ctx->wb, &work);
	KUNIT_EXPECT_EQ(test, ctx->written[0], 250);
	KUNIT_EXPECT_EQ(test, ctx->written[1], 250);
	expect_list(test, &ctx->wb->b_dirty, 500, 600, false);
}

static struct kunit_case writeback_test_cases[] = {
	KUNIT_CASE_PARAM(move_is_bounded, move_gen_params),
	KUNIT_CASE(moved_inodes_queue_behind),
	KUNIT_CASE(block_device_inodes_only),
	KUNIT_CASE_PARAM(superblocks_side_by_side, group_gen_params),
	KUNIT_CASE(more_superblocks_than_groups),
	KUNIT_CASE(queue_io_is_complete),
	KUNIT_CASE(queue_io_with_the_gate_shut),
	KUNIT_CASE(queue_io_shares_the_budget),
	KUNIT_CASE(queue_io_traces_the_sum),
	KUNIT_CASE(plugged_io_goes_out_first),
	KUNIT_CASE(queue_io_of_timestamps_only),
	KUNIT_CASE(queue_io_leaves_young_timestamps),
	KUNIT_CASE(queue_io_takes_b_more_io_first),
	KUNIT_CASE_PARAM(sync_behind_foreign_inodes, sync_gen_params),
	KUNIT_CASE(putting_back_is_bounded),
	KUNIT_CASE(putting_back_for_a_locked_superblock),
	KUNIT_CASE(putting_back_new_inodes),
	KUNIT_CASE(writing_restarts_the_budget),
	KUNIT_CASE(waiting_restarts_the_budget),
	KUNIT_CASE_PARAM(flush_by_the_rescuer, rescue_gen_params),
	KUNIT_CASE(hold_of_the_flusher_is_a_millisecond),
	KUNIT_CASE(hold_of_the_rescuer_is_a_millisecond),
	KUNIT_CASE(flush_of_three_superblocks),
	KUNIT_CASE(progress_is_that_of_all_superblocks),
	KUNIT_CASE(kupdate_takes_what_has_expired),
	{}
};

static struct kunit_suite writeback_test_suite = {
	.name = "fs_writeback",
	.init = writeback_test_init,
	.test_cases = writeback_test_cases,
};

kunit_test_suite(writeback_test_suite);
