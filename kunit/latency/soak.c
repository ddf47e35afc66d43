// SPDX-License-Identifier: GPL-2.0
/*
 * WORKLOAD=soak SECONDS=n: all of this at once, again and again, until the time is
 * up. Each is a process of its own.
 *
 *	reclaim	fill the page cache, and take kernel memory until some of it must
 *		go; every other time the task is killed over it
 *	cgroup	read and write files beyond the limit of a memory cgroup, where
 *		every other time the task is killed as well
 *	sync	write files of A, have them written by syncfs(), sync(), fsync() or
 *		umount(), and read them back from the disk
 *	churn	create and remove files of B, written by periodic writeback
 *	faults	write files of B while one request in 30 fails, and read back from the
 *		disk what fsync() said is there
 *	read	read /proc/pagetypeinfo, and shrink what the slab caches hold
 *	hotplug	take CPUs away and give them back
 *
 *	# value rounds_<name> <number>
 *	# value killed <tasks>
 *	# value io_errors <calls of fsync() that failed>
 *	# value checked <files read back>
 *	# value mismatches <files that had not their data, or were not written>
 *	# longest <caller> <walks cut short> <longest ns>
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "guest.h"

#define GROUP	"/sys/fs/cgroup/soak/"
#define FAULTS	"/sys/kernel/debug/fail_make_request/"
#define MB	(1L << 20)
#define FILES	40

static struct {
	volatile bool stop;
	volatile long rounds[8];
	volatile long killed, io_errors, checked, mismatches;
} *shared;

static unsigned long seed;

static long up_to(long limit)
{
	return random() % limit;
}

static void count(volatile long *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

/* --- files whose data is known ------------------------------------------- */

/* Another one for each file of each round. */
static const char *contents(unsigned long which, size_t size)
{
	static unsigned long text[64 << 10 >> 3];
	size_t i;

	for (i = 0; i < size / sizeof(*text); i++) {
		which = which * 6364136223846793005UL + 1442695040888963407UL;
		text[i] = which;
	}
	return (const char *)text;
}

static size_t size_of(unsigned long which)
{
	return 4096 * (1 + which % 16);
}

/* Opened anew, or the old file's data would have to be written first. */
static int write_known(const char *dir, unsigned long i, unsigned long which)
{
	size_t size = size_of(which);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/k%lu", dir, i);
	unlink(path);
	fd = open(path, O_CREAT | O_RDWR, 0644);
	if (fd >= 0 && write(fd, contents(which, size), size) == (ssize_t)size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Is any of a file in the page cache? */
static bool is_cached(int fd, size_t size)
{
	unsigned char pages[16] = { 0 };
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	size_t i;

	if (map == MAP_FAILED || mincore(map, size, pages))
		step(false, "look into the page cache");
	munmap(map, size);
	for (i = 0; i < sizeof(pages); i++)
		if (pages[i] & 1)
			return true;
	return false;
}

/* What is dirty stays; what is just being reclaimed, a moment longer than the rest. */
static bool stays_cached(int fd, size_t size)
{
	int i;

	for (i = 0; i < 20; i++) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		if (!is_cached(fd, size))
			return false;
		usleep(10000);
	}
	return true;
}

/*
 * What was written to the disk leaves the page cache, and is read from there again;
 * what stays there was not.
 */
static void check_known(int fd, unsigned long which)
{
	static char text[64 << 10];
	size_t size = size_of(which);
	bool stays = stays_cached(fd, size);

	count(&shared->checked);
	if (!stays && pread(fd, text, sizeof(text), 0) == (ssize_t)size &&
	    !memcmp(text, contents(which, size), size))
		return;
	count(&shared->mismatches);
	printf("# mismatch: data %lu%s\n", which, stays ? ", not written" : "");
}

/* --- memory -------------------------------------------------------------- */

/* @what goes on in a child, which is killed over it every other time. */
static void in_child(void (*what)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		set("/proc/self/oom_score_adj", "1000");
		what();
		_exit(0);
	}
	if (child > 0 && up_to(2)) {
		usleep(up_to(2000000));
		kill(child, SIGKILL);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status))
		count(&shared->killed);
}

static void fill_page_cache(void)
{
	int fd = open("/b/hole", O_RDWR | O_CREAT, 0644);
	long offset, size = 850 * MB;

	if (fd < 0 || ftruncate(fd, size))
		return;
	for (offset = 0; offset < size && !shared->stop; offset += MB / 2)
		readahead(fd, offset, MB / 2);
	close(fd);
}

static void take_memory(void)
{
	static char pages[256 << 12];
	int fds[2], i;

	for (i = 0; i < 150 && !shared->stop; i++)
		if (pipe(fds) || fcntl(fds[1], F_SETPIPE_SZ, sizeof(pages)) < 0 ||
		    fcntl(fds[1], F_SETFL, O_NONBLOCK) || write(fds[1], pages, sizeof(pages)) < 0)
			return;
}

static void reclaim(void)
{
	fill_page_cache();
	in_child(take_memory);
}

static void use_group(void)
{
	char path[64];
	int i, fd;

	set(GROUP "cgroup.procs", "0");
	for (i = 0; i < 60 && !shared->stop; i++) {
		snprintf(path, sizeof(path), "/b/g%d", i % 20);
		fd = open(path, O_CREAT | O_RDWR | (i & 1 ? O_TRUNC : 0), 0644);
		readahead(fd, 0, MB);
		for (long n = 0; n < 16; n++)
			if (pwrite(fd, contents(n, 64 << 10), 64 << 10, n << 16) < 0)
				break;
		close(fd);
	}
}

static void cgroup(void)
{
	in_child(use_group);
}

/* --- disk ---------------------------------------------------------------- */

static void write_back(int dir, int fds[FILES])
{
	int i;

	switch (up_to(3)) {
	case 0:
		if (syncfs(dir))
			step(false, "syncfs of A");
		return;
	case 1:
		sync();
		return;
	default:
		for (i = 0; i < FILES; i++)
			if (fsync(fds[i]))
				step(false, "fsync of a file of A");
	}
}

static void umount_and_open(int fds[FILES])
{
	char path[64];
	int i;

	for (i = 0; i < FILES; i++)
		close(fds[i]);
	if (umount("/a") || mount("/dev/pmem0p1", "/a", "ext4", 0, ""))
		step(false, "umount and mount A");
	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "/a/k%d", i);
		fds[i] = open(path, O_RDWR);
	}
}

static void sync_files(void)
{
	bool unmount = !up_to(4);
	int dir, i, fds[FILES];

	for (i = 0; i < FILES; i++) {
		fds[i] = write_known("/a", i, seed + i);
		if (fds[i] < 0)
			step(false, "write a file of A");
	}
	if (unmount) {
		umount_and_open(fds);
	} else {
		dir = open("/a", O_RDONLY);
		write_back(dir, fds);
		close(dir);
	}
	for (i = 0; i < FILES; i++) {
		check_known(fds[i], seed + i);
		close(fds[i]);
	}
	seed += FILES;
}

static void churn_files(void)
{
	char path[64];
	int i, fd;

	for (i = 0; i < 4000 && !shared->stop; i++) {
		snprintf(path, sizeof(path), "/b/c%d", i);
		fd = open(path, O_CREAT | O_WRONLY, 0644);
		if (fd < 0)
			continue;
		if (write(fd, path, sizeof(path)) > 0 && up_to(50) == 0)
			unlink(path);
		close(fd);
	}
}

static void fail_requests(const char *yes_or_no)
{
	set("/sys/block/pmem0/pmem0p2/make-it-fail", yes_or_no);
}

static void fault(void)
{
	bool there[FILES];
	int fds[FILES], i;

	fail_requests("1");
	for (i = 0; i < FILES; i++) {
		fds[i] = write_known("/b", i, seed + i);
		there[i] = fds[i] >= 0 && !fsync(fds[i]);
		if (!there[i])
			count(&shared->io_errors);
	}
	fail_requests("0");
	for (i = 0; i < FILES; i++) {
		if (there[i])
			check_known(fds[i], seed + i);
		close(fds[i]);
	}
	seed += FILES;
	usleep(up_to(500000));
}

/* --- the rest ------------------------------------------------------------ */

static void read_and_shrink(void)
{
	static char text[64 << 10];
	int fd = open("/proc/pagetypeinfo", O_RDONLY);

	if (fd < 0)
		step(false, "open /proc/pagetypeinfo");
	while (read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
	if (!up_to(10))
		set("/proc/sys/vm/drop_caches", "2");
	usleep(up_to(300000));
}

static void hotplug(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/online",
		 1 + up_to(get_nprocs_conf() - 1));
	set(path, "0");
	usleep(up_to(500000));
	set(path, "1");
	usleep(up_to(500000));
}

static const struct worker {
	const char *name;
	void (*round)(void);
} workers[] = {
	{ "reclaim", reclaim },
	{ "cgroup", cgroup },
	{ "sync", sync_files },
	{ "churn", churn_files },
	{ "faults", fault },
	{ "read", read_and_shrink },
	{ "hotplug", hotplug },
};

#define NR_WORKERS	(sizeof(workers) / sizeof(*workers))

static pid_t start_worker(size_t i)
{
	pid_t child = fork();

	if (child)
		return child;
	set("/proc/self/oom_score_adj", "-1000");
	srandom(i + 1);
	seed = i << 40;
	while (!shared->stop) {
		workers[i].round();
		count(&shared->rounds[i]);
	}
	_exit(0);
}

/*
 * Linux 6.12 counts the fair server as a task. A CPU that goes while it is queued is
 * said not to be vacated, under a lock that printk() must not be called with, and
 * lockdep gives up. Later kernels do not count it.
 */
static void stop_fair_servers(void)
{
	char path[64];
	int cpu;

	for (cpu = 0; cpu < get_nprocs_conf(); cpu++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/sched/fair_server/cpu%d/runtime", cpu);
		set(path, "0");
	}
}

static void set_up(void)
{
	struct rlimit limit = { 20000, 20000 };

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	step(shared != MAP_FAILED && !setrlimit(RLIMIT_NOFILE, &limit), "set up");
	mkdir("/sys/fs/cgroup", 0755);
	step(!mount("none", "/sys/fs/cgroup", "cgroup2", 0, "") &&
	     !mount("none", "/sys/kernel/debug", "debugfs", 0, ""), "mount cgroup2 and debugfs");
	stop_fair_servers();
	set("/sys/fs/cgroup/cgroup.subtree_control", "+memory +io");
	step(!mkdir(GROUP, 0755), "make a cgroup");
	set(GROUP "memory.max", "16M");
	step(!mount("/dev/pmem0p1", "/a", "ext4", 0, "") &&
	     !mount("/dev/pmem0p2", "/b", "ext4", 0, "errors=continue"), "mount A and B");
	set(FAULTS "probability", "10");
	set(FAULTS "interval", "3");
	set(FAULTS "times", "-1");
	set(FAULTS "verbose", "0");
	set("/proc/sys/vm/dirty_writeback_centisecs", "300");
	set("/proc/sys/vm/dirty_expire_centisecs", "600");
	set(CUT "trigger", "hist:keys=caller.sym:spent=spent:onmax($spent).save(items)");
}

/* For each caller the longest of its walks, in the line after it. */
static void print_longest(void)
{
	FILE *file = open_trace(CUT "hist");
	char line[512], caller[128] = "";
	long long number = 0, longest;

	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "{ caller: [%*[^]]] %127s } hitcount: %lld", caller, &number);
		if (*caller && sscanf(line, " max: %lld", &longest) == 1)
			printf("# longest %s %lld %lld\n", caller, number, longest);
	}
	fclose(file);
}

static void report(void)
{
	char name[32];
	size_t i;

	for (i = 0; i < NR_WORKERS; i++) {
		snprintf(name, sizeof(name), "rounds_%s", workers[i].name);
		value(name, shared->rounds[i]);
	}
	value("killed", shared->killed);
	value("io_errors", shared->io_errors);
	value("checked", shared->checked);
	value("mismatches", shared->mismatches);
	print_longest();
}

void soak(void)
{
	pid_t pids[NR_WORKERS];
	int status, failed = 0;
	time_t begun;
	size_t i;

	set_up();
	create("/a", 10);
	begun = time(NULL);
	for (i = 0; i < NR_WORKERS; i++)
		pids[i] = start_worker(i);
	while (time(NULL) - begun < number("SECONDS"))
		sleep(1);
	shared->stop = true;
	for (i = 0; i < NR_WORKERS; i++)
		failed += waitpid(pids[i], &status, 0) != pids[i] || status;
	step(!failed, "stop the workers");
	report();
	step(!umount("/a"), "umount of A");
}
