// SPDX-License-Identifier: GPL-2.0
/*
 * /init of the latency guest: one workload, named on the kernel command line,
 * and its result as KTAP.
 *
 *	WORKLOAD=reclaim|writeback|syncfs|sync|umount, soak (see soak.c), or one of
 *				churn.c
 *	MODE=holds		trace the long stretches with preemption off
 *	MODE=calls		trace the mean of all of them
 *	MODE=clock		trace who reads local_clock(), and what walks are cut short
 *	MODE=time		trace nothing
 *	MODE=irq, MODE=preempt	find who holds them off, see find.c
 *	ELIGIBLE=n		folios that can be reclaimed, behind all the others
 *	WANTED=n		pages to take beyond those that are free
 *	STOLEN=n		... and then until this many of those are gone
 *	INODES=n		dirty inodes
 *	CYCLICTEST=1		run cyclictest beside the workload
 *
 * All of A is dirtied after all of B.
 *
 * The figures are these lines, in which a stretch with preemption off is named
 * by the functions that took and released the lock:
 *	# value <name> <number>
 *	# hold <start> <end> <count> <over 1.1 ms> <longest ns> <total ns>
 *							(those above 100 us)
 *	# calls <start> <end> <count> <total ns>
 *	# clock <caller> <count>
 *	# cut <caller> <count>
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "guest.h"

#define NSEC	1000000000LL

static int tests;

/* --- results ------------------------------------------------------------ */

static void power_off(void)
{
	fflush(stdout);
	reboot(RB_POWER_OFF);
}

/* A step of the run. What follows a failed one would be about nothing. */
void step(bool ok, const char *fmt, ...)
{
	va_list args;

	printf("%sok %d - ", ok ? "" : "not ", ++tests);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	if (!ok)
		printf(": %s", strerror(errno));
	printf("\n");
	if (ok)
		return;
	printf("1..%d\n", tests);
	power_off();
}

void value(const char *name, long long number)
{
	printf("# value %s %lld\n", name, number);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

long number(const char *name)
{
	const char *text = getenv(name);

	return text ? atol(text) : 0;
}

bool is(const char *name, const char *text)
{
	const char *set = getenv(name);

	return set && !strcmp(set, text);
}

/* --- files -------------------------------------------------------------- */

static bool try_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

static void print_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		printf("# %s", line);
}

void set(const char *path, const char *text)
{
	if (!try_write(path, text)) {
		int error = errno;

		print_file(TRACING "error_log");
		errno = error;
		step(false, "write '%s' to %s", text, path);
	}
}

/* The sum of the counters of /proc/vmstat whose names begin with @prefix. */
static long long vmstat(const char *prefix)
{
	FILE *file = fopen("/proc/vmstat", "r");
	char name[64];
	long long n, sum = 0;

	if (!file)
		step(false, "open /proc/vmstat");
	while (fscanf(file, "%63s %lld", name, &n) == 2)
		if (!strncmp(name, prefix, strlen(prefix)))
			sum += n;
	fclose(file);
	return sum;
}

/* --- holds -------------------------------------------------------------- */

struct symbol {
	unsigned long long address;
	char name[48];
};

static struct symbol *symbols;
static size_t nr_symbols;
static unsigned long long stext;

struct hold {
	const char *start, *end;
	long count, over;
	long long longest, total;
};

static struct hold holds[512];
static int nr_holds;

static int by_address(const void *a, const void *b)
{
	const struct symbol *l = a, *r = b;

	return l->address < r->address ? -1 : l->address > r->address;
}

void read_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	struct symbol symbol;
	size_t room = 0;
	char type;

	if (!file)
		step(false, "open /proc/kallsyms");
	while (fscanf(file, "%llx %c %47s%*[^\n]", &symbol.address, &type,
		      symbol.name) == 3) {
		if (!strcmp(symbol.name, "_stext"))
			stext = symbol.address;
		if (!strchr("tTwW", type))
			continue;
		if (nr_symbols == room) {
			room = room ? 2 * room : 1 << 14;
			symbols = realloc(symbols, room * sizeof(*symbols));
			if (!symbols)
				step(false, "memory for symbols");
		}
		symbols[nr_symbols++] = symbol;
	}
	fclose(file);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
	step(stext && nr_symbols, "read the kernel's symbols");
}

/* The function that the return address @offset behind _stext is in. */
const char *symbol_at(unsigned int offset)
{
	unsigned long long address = stext + offset - 1;
	size_t from = 0, to = nr_symbols;

	while (to - from > 1) {
		size_t middle = (from + to) / 2;

		if (symbols[middle].address <= address)
			from = middle;
		else
			to = middle;
	}
	return symbols[from].name;
}

static bool trace_holds(void)
{
	return is("MODE", "holds") || is("MODE", "calls");
}

/*
 * Only the outermost disable and enable are events, so nothing is traced, and
 * no time spent on it, while a lock is held.
 */
void set_up_tracing(void)
{
	if (trace_holds()) {
		read_symbols();
		set(TRACING "buffer_size_kb", "8192");
		set(TRACING "synthetic_events",
		    "hold u64 ns; s32 start; s32 end");
	}
	if (is("MODE", "holds"))
		set(EVENTS "synthetic/hold/filter", "ns > 100000");
	if (is("MODE", "clock"))
		set(TRACING "kprobe_events", "p:clock local_clock caller=$stack0");
	if (is_finder())
		set_up_finder();
	step(true, "set up tracing");
}

void start_tracing(void)
{
	if (is("MODE", "holds"))
		set(EVENTS "synthetic/hold/enable", "1");
	if (is("MODE", "calls"))
		set(EVENTS "synthetic/hold/trigger",
		    "hist:keys=start,end:vals=ns");
	if (is("MODE", "clock")) {
		start_cuts();
		set(EVENTS "kprobes/clock/trigger", "hist:keys=caller.sym");
	}
	if (is_finder())
		start_finder();
	if (!trace_holds())
		return;
	set(EVENTS "preemptirq/preempt_disable/trigger",
	    "hist:keys=common_cpu:t=common_timestamp,from=parent_offs");
	set(EVENTS "preemptirq/preempt_enable/trigger",
	    "hist:keys=common_cpu:ns=common_timestamp-$t:"
	    "onmatch(preemptirq.preempt_disable).hold($ns,$from,parent_offs)");
}

static void add_hold(long long ns, unsigned int from, unsigned int to)
{
	const char *start = symbol_at(from), *end = symbol_at(to);
	int i;

	for (i = 0; i < nr_holds; i++)
		if (holds[i].start == start && holds[i].end == end)
			break;
	if (i == nr_holds) {
		if (nr_holds == 512)
			step(false, "room for another kind of hold");
		holds[nr_holds++] = (struct hold) { .start = start, .end = end };
	}
	holds[i].count++;
	holds[i].over += ns > 1100000;
	holds[i].total += ns;
	if (ns > holds[i].longest)
		holds[i].longest = ns;
}

FILE *open_trace(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		step(false, "open %s", path);
	return file;
}

static void print_holds(void)
{
	FILE *file = open_trace(TRACING "trace");
	unsigned int from, to;
	char line[512];
	long long ns;
	int i;

	while (fgets(line, sizeof(line), file)) {
		char *text = strstr(line, "hold: ns=");

		if (text && sscanf(text, "hold: ns=%lld start=%u end=%u",
				   &ns, &from, &to) == 3)
			add_hold(ns, from, to);
	}
	fclose(file);
	for (i = 0; i < nr_holds; i++)
		printf("# hold %s %s %ld %ld %lld %lld\n", holds[i].start,
		       holds[i].end, holds[i].count, holds[i].over,
		       holds[i].longest, holds[i].total);
	step(true, "trace the long stretches with preemption off");
}

static void print_calls(void)
{
	FILE *file = open_trace(EVENTS "synthetic/hold/hist");
	long long count, ns, total = 0;
	unsigned int from, to;
	char line[512];

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "{ start: %u, end: %u } hitcount: %lld ns: %lld",
			   &from, &to, &count, &ns) != 4)
			continue;
		printf("# calls %s %s %lld %lld\n", symbol_at(from),
		       symbol_at(to), count, ns);
		total += count;
	}
	fclose(file);
	step(total > 0, "trace the stretches with preemption off");
}

static void print_clock(void)
{
	FILE *file = open_trace(EVENTS "kprobes/clock/hist");
	char line[512], caller[128];
	long long count;

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "{ caller: [%*[^]]] %127s } hitcount: %lld",
			   caller, &count) == 2)
			printf("# clock %s %lld\n", caller, count);
	fclose(file);
	step(true, "trace who reads the clock");
}

void stop_tracing(void)
{
	set(TRACING "tracing_on", "0");
	if (is("MODE", "holds"))
		print_holds();
	if (is("MODE", "calls"))
		print_calls();
	if (is("MODE", "clock")) {
		print_clock();
		print_cuts();
	}
	if (is_finder())
		stop_finder();
}

/* --- latency ------------------------------------------------------------ */

static pid_t cyclictest;

static void start_cyclictest(void)
{
	if (!is("CYCLICTEST", "1"))
		return;
	cyclictest = fork();
	if (!cyclictest) {
		int fd = open("/cyclictest.log", O_CREAT | O_WRONLY, 0644);

		dup2(fd, 1);
		dup2(fd, 2);
		execl("/usr/bin/cyclictest", "cyclictest", "-Smp99", "-q", NULL);
		_exit(1);
	}
	sleep(1);
	step(cyclictest > 0 && !waitpid(cyclictest, NULL, WNOHANG),
	     "start cyclictest");
}

/* The largest of the "Max:" figures, one for each CPU. */
static void stop_cyclictest(void)
{
	FILE *file;
	char line[256];
	long max = -1;

	if (!cyclictest)
		return;
	kill(cyclictest, SIGINT);
	waitpid(cyclictest, NULL, 0);
	file = open_trace("/cyclictest.log");
	while (fgets(line, sizeof(line), file)) {
		char *text = strstr(line, "Max:");

		if (text && atol(text + 4) > max)
			max = atol(text + 4);
	}
	fclose(file);
	value("cyclictest_us", max);
	step(max >= 0, "read cyclictest's result");
}

/* Drivers may still be looking for the disk. */
static void wait_for_disk(void)
{
	int i;

	for (i = 0; i < 500 && access("/dev/pmem0p2", F_OK); i++)
		usleep(10000);
	step(!access("/dev/pmem0p2", F_OK), "find the disk");
}

/* --- reclaim ------------------------------------------------------------ */

/* What is counted on each CPU is added to what /proc says. */
static void sum_up_counters(void)
{
	set("/proc/sys/vm/stat_refresh", "1");
}

/*
 * What /proc/zoneinfo says of @zone: "free", "low" ... in pages. It says nothing
 * of what a zone without memory does not have.
 */
static long zone_pages(const char *zone, const char *what)
{
	FILE *file = fopen("/proc/zoneinfo", "r");
	bool found = false, seen = false;
	char line[256], name[32];
	long pages = 0, n;

	if (!file)
		step(false, "open /proc/zoneinfo");
	while (!pages && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Node %*d, zone %31s", name) == 1)
			found = !strcmp(name, zone);
		else if (found && (sscanf(line, " pages %31s %ld", name, &n) == 2 ||
				   sscanf(line, " %31s %ld", name, &n) == 2) &&
			 !strcmp(name, what))
			pages = n;
		seen = seen || found;
	}
	fclose(file);
	if (!seen)
		step(false, "find zone %s", zone);
	return pages;
}

static bool lacks_eligible(long needed)
{
	sum_up_counters();
	return zone_pages("DMA32", "nr_zone_inactive_file") < needed;
}

/* Reads on behind the end of the file until @needed folios can be reclaimed. */
static void top_up(int fd, long long offset, long needed)
{
	const int chunk = 1 << 16;
	int i;

	for (i = 0; i < 100 && lacks_eligible(needed); i++, offset += chunk)
		if (ftruncate(fd, offset + chunk) || readahead(fd, offset, chunk))
			return;
}

/*
 * Clean page cache fills ZONE_MOVABLE first, and when that is down to its low
 * watermark it goes to the zone below, which is all that can be reclaimed for
 * kernel memory: @eligible pages of it, and at least @needed. At the end some of
 * ZONE_MOVABLE is freed: what is reclaimed later is for what is allocated later,
 * and not to balance that zone.
 */
static void fill_page_cache(long eligible, long needed)
{
	int fd = open("/mnt/hole", O_RDWR | O_CREAT, 0644);
	long movable = zone_pages("Movable", "free") -
		       zone_pages("Movable", "low");
	long long size = (movable + eligible) * 4096LL, offset;
	long room;

	step(fd >= 0 && !ftruncate(fd, size), "a file with a hole");
	for (offset = 0; offset < size; offset += 1 << 19)
		readahead(fd, offset, 1 << 19);
	if (needed)
		top_up(fd, offset, needed);
	room = zone_pages("Movable", "high") - zone_pages("Movable", "low") + 1000;
	if (movable > room)
		posix_fadvise(fd, 0, room * 4096, POSIX_FADV_DONTNEED);
	close(fd);
	sum_up_counters();
	value("folios", vmstat("nr_inactive_file"));
	value("eligible", zone_pages("DMA32", "nr_zone_inactive_file"));
	step(zone_pages("DMA32", "nr_zone_inactive_file") >= needed &&
	     vmstat("nr_inactive_file") >= movable - room + (eligible < 0 ? eligible : 0),
	     "fill the page cache");
}

static void fill_pipe(long pages)
{
	static char buffer[1 << 20];
	int fds[2];

	if (pipe(fds) < 0 || fcntl(fds[1], F_SETPIPE_SZ, pages * 4096) < 0 ||
	    fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0 ||
	    write(fds[1], buffer, pages * 4096) < 0)
		_exit(1);
}

/*
 * Pipe buffers are not movable: take all that is free, @wanted pages more, and
 * then some until @stolen folios that can be reclaimed are gone. In a process
 * that the OOM killer takes first.
 */
static bool take_memory(long wanted, long stolen)
{
	long pages = zone_pages("DMA32", "free") - zone_pages("DMA32", "low") +
		     wanted;
	long eligible = zone_pages("DMA32", "nr_zone_inactive_file");
	pid_t child = fork();
	int status;

	if (!child) {
		set("/proc/self/oom_score_adj", "1000");
		for (; pages > 0; pages -= 256)
			fill_pipe(256);
		while (stolen && eligible - zone_pages("DMA32", "nr_zone_inactive_file") < stolen) {
			fill_pipe(16);
			sum_up_counters();
		}
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

static void reclaim(void)
{
	struct rlimit limit = { 20000, 20000 };
	long long skipped, stolen, oom, movable, start;
	bool satisfied;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		step(false, "raise the number of files");
	/* Or its thread reads bitmaps, which can be reclaimed, into the middle. */
	step(!mount("/dev/pmem0p2", "/mnt", "ext4", 0,
		    "no_prefetch_block_bitmaps,noinit_itable"), "mount");
	/* Where there are hardly more than are wanted, the OOM killer is right. */
	fill_page_cache(number("ELIGIBLE"), 2 * number("STOLEN"));
	start_cyclictest();
	skipped = vmstat("pgscan_skip_") + vmstat("pgskip_");
	stolen = vmstat("pgsteal_file");
	oom = vmstat("oom_kill");
	sum_up_counters();
	movable = zone_pages("Movable", "nr_zone_inactive_file");
	start_tracing();
	start = now();
	satisfied = take_memory(number("WANTED"), number("STOLEN"));
	start = now() - start;
	stop_tracing();
	stop_cyclictest();
	sum_up_counters();
	oom = vmstat("oom_kill") - oom;
	step(satisfied || oom, "take memory");
	skipped = vmstat("pgscan_skip_") + vmstat("pgskip_") - skipped;
	stolen = vmstat("pgsteal_file") - stolen;
	value("job_ns", start);
	value("items", skipped + stolen);
	value("skipped", skipped);
	value("reclaimed", stolen);
	value("reclaimed_ineligible",
	      movable - zone_pages("Movable", "nr_zone_inactive_file"));
	value("eligible_left", zone_pages("DMA32", "nr_zone_inactive_file"));
	value("oom_kills", oom);
}

/* --- writeback ---------------------------------------------------------- */

static volatile bool stop;
static long long latency;

/* A periodic task of high priority, as the messenger. */
static void *periodic(void *unused)
{
	struct sched_param param = { .sched_priority = 50 };
	const long period = 200000;

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		step(false, "become a SCHED_FIFO task");
	while (!stop) {
		struct timespec t = { 0, period };
		long long start = now(), late;

		nanosleep(&t, NULL);
		late = now() - start - period;
		if (late > latency)
			latency = late;
	}
	return unused;
}

void create(const char *dir, long nr)
{
	char path[64];
	long i;

	for (i = 0; i < nr; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/f%ld", dir, i);
		fd = open(path, O_CREAT | O_WRONLY, 0644);
		if (fd < 0 || write(fd, "precious\n", 9) != 9)
			step(false, "create %s", path);
		close(fd);
	}
	step(true, "create %ld files in %s", nr, dir);
}

#define QUEUED	EVENTS "writeback/writeback_queue_io/"

/* A few events each walk over the inodes, so they are counted in all modes. */
static void count_queued_inodes(void)
{
	set(QUEUED "trigger", "hist:keys=common_cpu:vals=moved");
}

static long long queued_inodes(void)
{
	FILE *file = open_trace(QUEUED "hist");
	long long moved, sum = 0;
	char line[512];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "{ common_cpu: %*d } hitcount: %*d moved: %lld",
			   &moved) == 1)
			sum += moved;
	fclose(file);
	return sum;
}

/* Nothing is to be written before we say so. */
static void hold_writeback_back(void)
{
	set("/proc/sys/vm/dirty_writeback_centisecs", "0");
	set("/proc/sys/vm/dirty_ratio", "90");
	set("/proc/sys/vm/dirty_background_ratio", "89");
	set("/sys/block/pmem0/bdi/min_ratio", "99");
}

static void writeback(const char *what)
{
	long long start, written;
	pthread_t thread;
	int fd;

	hold_writeback_back();
	step(!mount("/dev/pmem0p2", "/b", "ext4", 0, ""), "mount B");
	create("/b", number("INODES"));
	sleep(1);
	step(!mount("/dev/pmem0p1", "/a", "ext4", 0, ""), "mount A");
	create("/a", 10);
	fd = open("/a", O_RDONLY);
	step(fd >= 0, "open A");
	if (pthread_create(&thread, NULL, periodic, NULL))
		step(false, "start the periodic task");
	sleep(1);
	start_cyclictest();
	latency = 0;
	written = vmstat("nr_written");
	count_queued_inodes();

	start_tracing();
	start = now();
	if (!strcmp(what, "syncfs")) {
		step(!syncfs(fd), "syncfs of A");
	} else if (!strcmp(what, "sync")) {
		sync();
		step(true, "sync");
	} else if (!strcmp(what, "umount")) {
		close(fd);
		step(!umount("/a"), "umount of A");
	} else {
		/* The first period begins when the interval is set. */
		set("/proc/sys/vm/dirty_expire_centisecs", "1");
		set("/proc/sys/vm/dirty_writeback_centisecs", "10");
		while (vmstat("nr_dirty") != vmstat("nr_dirty_"))
			usleep(10000);
		step(true, "periodic writeback");
	}
	start = now() - start;
	value("latency_ns", latency);
	stop_tracing();
	stop_cyclictest();
	value("items", queued_inodes());
	value("job_ns", start);
	value("written", vmstat("nr_written") - written);
	value("oom_kills", vmstat("oom_kill"));
}

int main(int argc, char **argv)
{
	const char *workload = getenv("WORKLOAD") ? : "";

	if (argc > 1 && !strcmp(argv[1], "job"))
		return job();
	setvbuf(stdout, NULL, _IOLBF, 0);
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mkdir("/mnt", 0755);
	mkdir("/a", 0755);
	mkdir("/b", 0755);
	mount("none", "/proc", "proc", 0, "");
	mount("none", "/sys", "sysfs", 0, "");
	mount("none", "/sys/kernel/tracing", "tracefs", 0, "");
	mount("none", "/dev", "devtmpfs", 0, "");
	printf("KTAP version 1\n");

	wait_for_disk();
	set_up_tracing();
	if (!strcmp(workload, "reclaim"))
		reclaim();
	else if (!strcmp(workload, "soak"))
		soak();
	else if (churn(workload))
		;
	else if (*workload)
		writeback(workload);
	else
		step(false, "know what to do: WORKLOAD is not set");
	printf("1..%d\n", tests);
	power_off();
}
