// SPDX-License-Identifier: GPL-2.0
/*
 * What scripts/coccinelle/locks/bounded_iter.cocci has to report, and what not.
 * Never compiled: kunit/find-loops.sh compares the findings with the comments.
 */

/* No bound at all, with each way of walking. */
static void all_shapes(struct queue *q)
{
	struct item *item, *next;
	struct rb_node *node;

	spin_lock(&q->lock);
	/* expect: unbounded, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list)
		touch(item);
	/* expect: unbounded, spin_lock(&q->lock) */
	hlist_for_each_entry_safe(item, next, &q->items, list) {
		if (item->busy)
			continue;
		touch(item);
	}
	/* expect: unbounded, spin_lock(&q->lock) */
	while (!list_empty(&q->items))
		drop_item(q);
	/* expect: unbounded, spin_lock(&q->lock) */
	while ((item = list_first_entry_or_null(&q->items, struct item, list)))
		list_del(&item->list);
	/* expect: unbounded, spin_lock(&q->lock) */
	for (item = q->first; item; item = item->next)
		touch(item);
	/* expect: unbounded, spin_lock(&q->lock) */
	for (node = rb_first(&q->tree); node; node = rb_next(node))
		touch(node);
	item = q->first;
	/* expect: unbounded, spin_lock(&q->lock) */
	while (item) {
		touch(item);
		item = item->next;
	}
	/* expect: unbounded, spin_lock(&q->lock) */
	for (;;) {
		if (list_empty(&q->items))
			break;
		list_del(q->items.next);
	}
	for (i = 0; i < NR_CPUS; i++)
		touch(&q->item[i]);
	spin_unlock(&q->lock);
	list_for_each_entry(item, &q->items, list)
		touch(item);
}

/* Each way of locking. */
static void all_locks(struct queue *q)
{
	spin_lock_bh(&q->a);
	/* expect: unbounded, spin_lock_bh(&q->a) */
	list_for_each_entry(item, &q->items, list)
		touch(item);
	spin_unlock_bh(&q->a);
	spin_lock_irq(&q->b);
	/* expect: unbounded, spin_lock_irq(&q->b) */
	list_for_each_entry(item, &q->items, list)
		touch(item);
	spin_unlock_irq(&q->b);
	raw_spin_lock_irqsave(&q->c, flags);
	/* expect: unbounded, raw_spin_lock_irqsave(&q->c) */
	list_for_each_entry(item, &q->items, list)
		touch(item);
	raw_spin_unlock_irqrestore(&q->c, flags);
	write_lock_bh(&q->d);
	/* expect: unbounded, write_lock_bh(&q->d) */
	list_for_each_entry(item, &q->items, list)
		touch(item);
	write_unlock_bh(&q->d);
	xa_lock_irq(&q->e);
	/* expect: unbounded, xa_lock_irq(&q->e) */
	list_for_each_entry(item, &q->items, list)
		touch(item);
	xa_unlock_irq(&q->e);
	local_irq_save(flags);
	/* expect: unbounded, local_irq_save() */
	list_for_each_entry(item, &q->items, list)
		touch(item);
	local_irq_restore(flags);
	mutex_lock(&q->f);
	list_for_each_entry(item, &q->items, list)
		touch(item);
	mutex_unlock(&q->f);
}

/* Another lock may come and go. */
static void two_locks(struct queue *q)
{
	spin_lock(&q->lock);
	spin_lock(&q->inner);
	spin_unlock(&q->inner);
	/* expect: unbounded, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list) {
		spin_lock(&item->lock);
		touch(item);
		spin_unlock(&item->lock);
	}
	spin_unlock(&q->lock);
}

/* Only on one of the ways out is the lock dropped. */
static void search(struct queue *q)
{
	spin_lock(&q->lock);
	/* expect: unbounded, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list) {
		if (item->wanted) {
			spin_unlock(&q->lock);
			touch(item);
			return;
		}
	}
	spin_unlock(&q->lock);
}

/* The lock of a caller, one level up, two, and through a cycle. */
static void one_up(struct queue *q)
{
	/* expect: unbounded, spin_lock_irq(&q->lock) of top() */
	list_for_each_entry(item, &q->items, list)
		touch(item);
}

static void two_up(struct queue *q)
{
	/* expect: unbounded, spin_lock_irq(&q->lock) of top() */
	list_for_each_entry(item, &q->items, list)
		touch(item);
}

static void middle(struct queue *q)
{
	if (q->again)
		middle(q);
	two_up(q);
}

static void after_the_unlock(struct queue *q)
{
	list_for_each_entry(item, &q->items, list)
		touch(item);
}

static void unlocks_first(struct queue *q)
{
	spin_unlock_irq(&q->lock);
	list_for_each_entry(item, &q->items, list)
		touch(item);
	spin_lock_irq(&q->lock);
}

static void unlocks_perhaps(struct queue *q)
{
	if (q->x)
		spin_unlock_irq(&q->lock);
	/* expect: unbounded, spin_lock_irq(&q->lock) of top() */
	list_for_each_entry(item, &q->items, list)
		touch(item);
	if (q->x)
		spin_lock_irq(&q->lock);
}

static void top(struct queue *q)
{
	spin_lock_irq(&q->lock);
	one_up(q);
	middle(q);
	unlocks_first(q);
	spin_unlock_irq(&q->lock);
	after_the_unlock(q);
	spin_lock_irq(&q->lock);
	unlocks_perhaps(q);
	spin_unlock_irq(&q->lock);
}

/* A drop at each turn, by hand or by a function, is as good as a bound. */
static void relax(struct queue *q)
{
	spin_unlock(&q->lock);
	cond_resched();
	spin_lock(&q->lock);
}

static void drops(struct queue *q)
{
	spin_lock(&q->lock);
	while (!list_empty(&q->items)) {
		item = take(q);
		spin_unlock(&q->lock);
		touch(item);
		spin_lock(&q->lock);
	}
	while (!list_empty(&q->items)) {
		take(q);
		relax(q);
	}
	list_for_each_entry(item, &q->items, list)
		cond_resched_lock(&q->lock);
	/* expect: passed, spin_lock(&q->lock) */
	while (!list_empty(&q->items)) {
		item = take(q);
		if (item->busy)
			continue;
		spin_unlock(&q->lock);
		touch(item);
		spin_lock(&q->lock);
	}
	/* expect: passed, spin_lock(&q->lock) */
	while (!list_empty(&q->items)) {
		item = take(q);
		if (item->busy)
			goto next;
		relax(q);
next:
		put_back(item);
	}
	spin_unlock(&q->lock);
}

/* Counters. */
static void counts(struct queue *q, int nr)
{
	int n = 0, m = 0;

	spin_lock(&q->lock);
	while (n < nr && !list_empty(&q->items)) {
		take(q);
		n++;
	}
	/* expect: passed, spin_lock(&q->lock) */
	while (n < nr && !list_empty(&q->items)) {
		item = take(q);
		if (item->busy)
			goto skip;
		n += item->size;
skip:
		put_back(item);
	}
	list_for_each_entry(item, &q->items, list) {
		if (n++ >= nr)
			break;
	}
	list_for_each_entry(item, &q->items, list)
		if (++n > 16)
			break;
	while (nr-- && !list_empty(&q->items)) {
		item = take(q);
		if (item->busy)
			continue;
		put_back(item);
	}
	/* expect: count, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list) {
		if (++n >= 100000) {
			overflow = true;
			break;
		}
	}
	/* expect: count, spin_lock(&q->lock) */
	while (!list_empty(&q->items) && n++ < MAX_ITEMS)
		take(q);
	/* expect: passed, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list) {
		if (item->busy)
			continue;
		if (n++ >= nr)
			break;
	}
	/* expect: unbounded, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list)
		m++;
	/* expect: unbounded, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list) {
		for (i = 0; i < 4; i++)
			if (item->key[i] == i)
				break;
	}
	/* expect: unbounded, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list) {
		if (++n == 16) {
			touch(item);
			n = 0;
			if (item->wanted)
				break;
		}
	}
	spin_unlock(&q->lock);
}

/* Clocks. */
static void clocks(struct queue *q)
{
	u64 end = local_clock() + NSEC_PER_MSEC;
	int n = 0;

	spin_lock(&q->lock);
	/* expect: clock, spin_lock(&q->lock) */
	while (!list_empty(&q->items)) {
		take(q);
		if (++n < 32)
			continue;
		n = 0;
		if (need_resched() && local_clock() > end)
			break;
	}
	/* expect: clock, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list) {
		if (time_after(jiffies, end))
			goto out;
	}
	/* expect: clock, spin_lock(&q->lock) */
	while (!list_empty(&q->items) && time_before(jiffies, end))
		take(q);
	/* expect: unbounded, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list) {
		if (time_after(jiffies, item->expires))
			touch(item);
	}
	/* expect: unbounded, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list)
		if (time_before(jiffies, item->expires))
			break;
	while (!list_empty(&q->items)) {
		item = take(q);
		end = item->expires;
		if (time_before(jiffies, end))
			break;
		spin_unlock(&q->lock);
		touch(item);
		spin_lock(&q->lock);
	}
out:
	spin_unlock(&q->lock);
}

/* The helper. */
static void converted(struct queue *q, struct bounded_iter *bi)
{
	spin_lock(&q->lock);
	while (!list_empty(&q->items) && !bounded_iter_expired(bi)) {
		item = take(q);
		if (item->busy)
			continue;
		touch(item);
	}
	list_for_each_entry(item, &q->items, list) {
		if (bounded_iter_expired_bh(bi))
			break;
		if (item->busy)
			continue;
		touch(item);
	}
	/* expect: passed, spin_lock(&q->lock) */
	list_for_each_entry(item, &q->items, list) {
		if (item->busy)
			continue;
		touch(item);
		if (bounded_iter_expired(bi))
			break;
	}
	spin_unlock(&q->lock);
}
