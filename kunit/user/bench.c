// SPDX-License-Identifier: GPL-2.0
/*
 * What a bound costs, on this machine, as ratios to the same walk without one. The
 * item is of the kind isolate_lru_folios() takes: some tests, a reference and a
 * flag taken atomically, and a move to another list.
 *
 *	bench <rounds>		time: <clock> <list> <shape> <batch> <ratio> <ns per item>
 *	bench overshoot <rounds>	<batch> <median> in ns beyond the budget
 *	bench once <shape>	some walks over a list of 32, to be counted by callgrind
 *	bench check		every shape handles every item, once
 */
#include <linux/bounded_iter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define noinline	__attribute__((noinline))
#define ENDLESS		(1ULL << 62)

struct list {
	struct list *next, *prev;
};

struct item {
	unsigned long flags;
	struct list lru;
	int refcount;
	char pad[28];
};

/* --- what the helper sees ------------------------------------------------- */

static bool use_tsc;
static double tsc_ns;

static u64 wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Like the kernel's, the fast one multiplies and shifts what the CPU counts. */
static u64 tsc_mult;

u64 local_clock(void)
{
	if (use_tsc)
		return ((unsigned __int128)__rdtsc() * tsc_mult) >> 32;
	return wall();
}

bool need_resched(void)
{
	return true;
}

void lockdep_assert_irqs_enabled(void)
{
}

static void measure_tsc(void)
{
	u64 ticks = __rdtsc(), begin = wall();

	while (wall() - begin < 100000000)
		;
	tsc_ns = (double)(wall() - begin) / (__rdtsc() - ticks);
	tsc_mult = tsc_ns * 4294967296.0;
}

/* --- the walks ------------------------------------------------------------ */

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

static inline void list_move(struct list *entry, struct list *head)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline __always_inline void take(struct list *src, struct list *dst)
{
	struct item *item = (struct item *)((char *)src->prev - offsetof(struct item, lru));

	if ((item->flags >> 61) == 0 && item->refcount > 0) {
		__atomic_fetch_add(&item->refcount, 1, __ATOMIC_SEQ_CST);
		__atomic_fetch_xor(&item->flags, 1UL << 5, __ATOMIC_SEQ_CST);
	}
	list_move(&item->lru, dst);
}

/*
 * A walk, its batch a constant as in the kernel: what it sets up, the condition of
 * its loop, and what ends its body.
 */
#define WALK(name, setup, condition, tail)					\
static noinline size_t name(struct list *src, struct list *dst, u64 budget,	\
			    unsigned int batch)					\
{										\
	size_t n = 0;								\
										\
	(void)budget;								\
	(void)batch;								\
	setup;									\
	while (!list_empty(src) condition) {					\
		take(src, dst);							\
		n++;								\
		tail;								\
	}									\
	return n;								\
}

WALK(no_bound, , , )
WALK(count_cap, unsigned int skipped = 0, && skipped < batch * 1048576U, skipped++)
/* As posted in 2024: the clock is read at the start and after each batch. */
WALK(open_coded, u64 start = local_clock(); unsigned int count = 0, ,
	if (++count == 32) {
		count = 0;
		if (local_clock() - start >= budget)
			break;
	})
/* As in rcu_do_batch(): a limit in time, looked at every 32 items. */
WALK(rcu_shape, u64 limit = local_clock() + budget, ,
	if (!(n & 31) && local_clock() >= limit)
		break)
WALK(bounded_8, DEFINE_BOUNDED_ITER(bi, 8, budget), && !bounded_iter_expired(&bi), )
WALK(bounded_32, DEFINE_BOUNDED_ITER(bi, 32, budget), && !bounded_iter_expired(&bi), )
WALK(bounded_128, DEFINE_BOUNDED_ITER(bi, 128, budget), && !bounded_iter_expired(&bi), )
WALK(bounded_1024, DEFINE_BOUNDED_ITER(bi, 1024, budget), && !bounded_iter_expired(&bi), )

static const struct shape {
	const char *name;
	size_t (*walk)(struct list *src, struct list *dst, u64 budget,
		       unsigned int batch);
	unsigned int batch;
} shapes[] = {
	{ "no bound", no_bound, 0 },
	{ "no bound again", no_bound, 0 },
	{ "count cap", count_cap, 32 },
	{ "open-coded", open_coded, 32 },
	{ "as rcu_do_batch", rcu_shape, 32 },
	{ "bounded_iter", bounded_8, 8 },
	{ "bounded_iter", bounded_32, 32 },
	{ "bounded_iter", bounded_128, 128 },
	{ "bounded_iter", bounded_1024, 1024 },
};
#define NR_SHAPES ((int)(sizeof(shapes) / sizeof(*shapes)))

/* --- lists ---------------------------------------------------------------- */

static struct item *items;
static size_t *order;
static struct list src = { &src, &src }, dst = { &dst, &dst };

static u64 random_number(void)
{
	static u64 state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* @nr items, each next one somewhere else in memory if @shuffled. */
static void make_list(size_t nr, bool shuffled)
{
	size_t i;

	free(items);
	free(order);
	items = aligned_alloc(64, nr * sizeof(*items));
	order = malloc(nr * sizeof(*order));
	if (!items || !order)
		exit(2);
	for (i = 0; i < nr; i++)
		order[i] = i;
	for (i = nr - 1; shuffled && i > 0; i--) {
		size_t other = random_number() % (i + 1), tmp = order[i];

		order[i] = order[other];
		order[other] = tmp;
	}
	src.next = src.prev = &src;
	dst.next = dst.prev = &dst;
	for (i = 0; i < nr; i++) {
		struct list *entry = &items[order[i]].lru;

		items[order[i]].flags = 1UL << 5;
		items[order[i]].refcount = 1;
		entry->next = entry->prev = entry;
		list_move(entry, &src);
	}
}

/* What was moved goes back, in the order it had, without being touched. */
static void move_back(void)
{
	if (list_empty(&dst))
		return;
	dst.next->prev = &src;
	dst.prev->next = src.next;
	src.next->prev = dst.prev;
	src.next = dst.next;
	dst.next = dst.prev = &dst;
}

/* --- measurements --------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const double *l = a, *r = b;

	return *l < *r ? -1 : *l > *r;
}

static double median(double *values, int nr)
{
	qsort(values, nr, sizeof(*values), by_value);
	return values[nr / 2];
}

/*
 * All shapes take turns, another one first in each round, so that what else the
 * machine does meets them all, and the shortest time of all rounds counts: nothing
 * makes a walk too fast.
 */
static void measure(const char *clock, const char *list, size_t nr, int rounds)
{
	size_t repeats = nr < 100000 ? 200000 / nr : 1, r;
	double ns[NR_SHAPES];
	int round, turn, i;

	for (round = 0; round < rounds; round++) {
		for (turn = 0; turn < NR_SHAPES; turn++) {
			u64 begin = __rdtsc();
			double time;
			i = (turn + round) % NR_SHAPES;

			for (r = 0; r < repeats; r++) {
				shapes[i].walk(&src, &dst, ENDLESS, shapes[i].batch);
				move_back();
			}
			time = (__rdtsc() - begin) * tsc_ns / (repeats * nr);
			if (round == 0 || time < ns[i])
				ns[i] = time;
		}
	}
	for (i = 0; i < NR_SHAPES; i++)
		printf("%s\t%s\t%s\t%u\t%.4f\t%.2f\n", clock, list, shapes[i].name,
		       shapes[i].batch, ns[i] / ns[0], ns[i]);
	fflush(stdout);
}

static void measure_all(int rounds)
{
	static const struct {
		const char *name;
		size_t nr;
		bool shuffled;
	} lists[] = {
		{ "8 hot", 8, false },
		{ "32 hot", 32, false },
		{ "1000 hot", 1000, false },
		{ "1000000 cold", 1000000, true },
	};
	int clock, i;

	for (i = 0; i < 4; i++) {
		make_list(lists[i].nr, lists[i].shuffled);
		for (clock = 0; clock < 2; clock++) {
			use_tsc = !clock;
			measure(clock ? "clock_gettime" : "rdtsc", lists[i].name,
				lists[i].nr, lists[i].nr > 100000 ? rounds / 5 + 1 : rounds);
		}
	}
}

/* How much longer than budget and first batch a walk over cold items takes. */
static void overshoot(int rounds)
{
	const u64 budget = 100000;
	int i, round;

	use_tsc = true;
	make_list(1000000, true);
	for (i = 5; i < NR_SHAPES; i++) {
		double *over = malloc(rounds * sizeof(double));

		for (round = 0; round < rounds; round++) {
			u64 begin = local_clock();

			shapes[i].walk(&src, &dst, budget, shapes[i].batch);
			over[round] = (double)(local_clock() - begin) - budget;
			if (list_empty(&src))
				move_back();
		}
		printf("%u\t%.0f\n", shapes[i].batch, median(over, rounds));
		free(over);
		move_back();
	}
}

static int once(const char *name)
{
	int i, r;

	use_tsc = true;
	make_list(32, false);
	for (i = 0; i < NR_SHAPES; i++) {
		if (strcmp(shapes[i].name, name) || (shapes[i].batch && shapes[i].batch != 32))
			continue;
		for (r = 0; r < 1000; r++) {
			shapes[i].walk(&src, &dst, ENDLESS, shapes[i].batch);
			move_back();
		}
		return 0;
	}
	return 2;
}

static int check(void)
{
	static const size_t sizes[] = { 1, 8, 32, 33, 1000, 5000 };
	size_t s, k, n;
	int i;

	for (s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (i = 0; i < NR_SHAPES; i++) {
			make_list(sizes[s], true);
			n = shapes[i].walk(&src, &dst, ENDLESS, shapes[i].batch);
			for (k = 0; k < sizes[s]; k++)
				n += items[k].refcount == 2 && !items[k].flags;
			if (n != 2 * sizes[s] || !list_empty(&src)) {
				printf("%s, batch %u, %zu items: not each was handled once\n",
				       shapes[i].name, shapes[i].batch, sizes[s]);
				return 1;
			}
		}
	}
	make_list(1000, false);
	n = bounded_32(&src, &dst, 0, 32);
	if (n != 32) {
		printf("no budget, batch 32: %zu items instead of 32\n", n);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	measure_tsc();
	if (argc == 2 && !strcmp(argv[1], "check"))
		return check();
	if (argc == 3 && !strcmp(argv[1], "once"))
		return once(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "overshoot"))
		overshoot(atoi(argv[2]));
	else if (argc == 2 && atoi(argv[1]) > 0)
		measure_all(atoi(argv[1]));
	else
		return 2;
	return 0;
}
