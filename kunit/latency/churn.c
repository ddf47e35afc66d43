// SPDX-License-Identifier: GPL-2.0
/*
 * Workloads of the latency guest which have no loop of ours to show: what machines
 * do all day. Each is checked by what the kernel itself counts.
 *
 *	WORKLOAD=fork JOBS=n		processes as in a kernel build
 *	WORKLOAD=files FILES=n		create, write, rename, remove; drop the caches
 *	WORKLOAD=proc READS=n		files in /proc, with fragmented memory
 *	WORKLOAD=mount MOUNTS=n		file systems, bind mounts, mount namespaces
 *	WORKLOAD=memcg GROUPS=n		memory cgroups: create, charge, reclaim, remove
 *	WORKLOAD=neigh NEIGHBOURS=n	send to addresses where nobody answers
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "guest.h"

#define PAGE	4096L
#define MB	(1L << 20)
#define EXT4_IOC_PRECACHE_EXTENTS	_IO('f', 18)

static char buffer[1 << 16];

static void make_dir(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		step(false, "mkdir %s", path);
}

/* The number behind the line of @path that begins with @name. */
static long long counter(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	char line[1024];
	long long n = -1;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), "%lld", &n);
	if (n < 0)
		step(false, "find '%s' in %s", name, path);
	fclose(file);
	return n;
}

static long count_lines(const char *path, const char *with)
{
	FILE *file = fopen(path, "r");
	char line[1024];
	long n = 0;

	if (!file)
		step(false, "open %s", path);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, with) != NULL;
	fclose(file);
	return n;
}

static void write_file(const char *path, long size)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	long chunk;

	if (fd < 0)
		step(false, "create %s", path);
	for (; size > 0; size -= chunk) {
		chunk = size < (long)sizeof(buffer) ? size : (long)sizeof(buffer);
		if (write(fd, buffer, chunk) != chunk)
			step(false, "write %s", path);
	}
	close(fd);
}

/* Fresh memory of @size bytes, all of it there. */
static char *take(long size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		step(false, "take %ld MB of memory", size / MB);
	return memory;
}

static void wait_for(pid_t child, const char *what)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		step(false, "%s", what);
}

/* --- fork --------------------------------------------------------------- */

/*
 * What a compiler does, seen from the kernel: exec, memory, a file written under a
 * temporary name. Every 256th is a linker, which takes more.
 */
int job(void)
{
	long big = getpid() % 256 == 0;
	char from[32], to[32];
	char *memory = take(big ? 32 * MB : MB / 4);

	memset(memory, 1, MB / 8);
	snprintf(from, sizeof(from), "/tmp/t%d", getpid());
	snprintf(to, sizeof(to), "/tmp/o%d", getpid() % 64);
	write_file(from, big ? 4 * MB : 32 << 10);
	return rename(from, to) != 0;
}

static void start_job(void)
{
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "init", "job", NULL);
		_exit(1);
	}
	if (child < 0)
		step(false, "fork");
}

static void end_job(void)
{
	int status;

	if (wait(&status) < 0 || status)
		step(false, "a job ended with %d", status);
}

/* Eight at a time, as make -j8. */
static void churn_forks(void)
{
	long jobs = number("JOBS"), running = 0, i;
	long long forks;

	make_dir("/tmp");
	forks = counter("/proc/stat", "processes ");
	start_tracing();
	for (i = 0; i < jobs; i++) {
		if (running == 8)
			end_job();
		else
			running++;
		start_job();
	}
	while (running--)
		end_job();
	stop_tracing();
	forks = counter("/proc/stat", "processes ") - forks;
	value("work_forks", forks);
	step(jobs > 0 && forks >= jobs, "%ld jobs", jobs);
}

/* --- files -------------------------------------------------------------- */

static long inodes_used(const char *path)
{
	struct statfs s;

	if (statfs(path, &s))
		step(false, "statfs %s", path);
	return s.f_files - s.f_ffree;
}

static void name_file(char *path, size_t size, const char *top, long i, char kind)
{
	snprintf(path, size, "%s/d%ld/%c%ld", top, i / 200, kind, i);
}

static void create_files(const char *top, long nr)
{
	char path[64], to[64];
	long i;

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/d%ld", top, i / 200);
		if (i % 200 == 0)
			make_dir(path);
		name_file(path, sizeof(path), top, i, 't');
		name_file(to, sizeof(to), top, i, 'f');
		write_file(path, 6000);
		if (rename(path, to))
			step(false, "rename %s", path);
	}
}

static void remove_files(const char *top, long nr)
{
	char path[64];
	long i;

	for (i = 0; i < nr; i++) {
		name_file(path, sizeof(path), top, i, 'f');
		if (unlink(path))
			step(false, "unlink %s", path);
		snprintf(path, sizeof(path), "%s/d%ld", top, i / 200);
		if ((i % 200 == 199 || i == nr - 1) && rmdir(path))
			step(false, "rmdir %s", path);
	}
}

/*
 * Open files of so many extents that ext4 keeps them outside of the inode. The
 * shrinker passes those by whose extents were asked for in advance.
 */
static void open_precached(long nr)
{
	char path[64];
	long i, extent;

	for (i = 0; i < nr; i++) {
		int fd;

		snprintf(path, sizeof(path), "/b/p%ld", i);
		fd = open(path, O_CREAT | O_RDWR, 0644);
		for (extent = 0; extent < 6; extent++)
			if (pwrite(fd, "x", 1, extent * 2 * PAGE) != 1)
				step(false, "write %s", path);
	}
	sync();
	for (i = 0; i < nr; i++) {
		int fd;

		snprintf(path, sizeof(path), "/b/p%ld", i);
		fd = open(path, O_RDWR);
		if (fd < 0 || ioctl(fd, EXT4_IOC_PRECACHE_EXTENTS))
			step(false, "read the extents of %s", path);
		close(fd);
	}
}

static void churn_files(void)
{
	struct rlimit limit = { 50000, 50000 };
	long files = number("FILES"), precached = files / 4, before, created, left;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		step(false, "raise the number of files");
	step(!mount("/dev/pmem0p2", "/b", "ext4", 0, ""), "mount B");
	make_dir("/t");
	step(!mount("none", "/t", "tmpfs", 0, "size=80%"), "mount a tmpfs");
	before = inodes_used("/b") + inodes_used("/t");
	start_tracing();
	create_files("/b", files);
	create_files("/t", files);
	open_precached(precached);
	created = inodes_used("/b") + inodes_used("/t") - before;
	write_file("/b/large", 64 * MB);
	write_file("/t/large", 64 * MB);
	sync();
	set("/proc/sys/vm/drop_caches", "3");
	if (truncate("/b/large", 1) || truncate("/t/large", 1))
		step(false, "truncate the large files");
	remove_files("/b", files);
	remove_files("/t", files);
	sync();
	left = inodes_used("/b") + inodes_used("/t") - before;
	step(!umount("/t"), "unmount the tmpfs");
	stop_tracing();
	value("work_files_created", created);
	value("work_files_removed", created + 2 - left);
	step(files > 0 && created >= 2 * files + precached &&
	     left == precached + 2, "create and remove 2 * %ld files", files);
}

/* --- proc --------------------------------------------------------------- */

static const char *const proc_files[] = {
	"/proc/pagetypeinfo", "/proc/slabinfo", "/proc/zoneinfo",
	"/proc/buddyinfo", "/proc/vmstat", "/proc/meminfo",
	"/proc/vmallocinfo", "/proc/self/smaps", "/proc/self/smaps_rollup",
	"/proc/self/maps", "/proc/self/status", "/proc/self/stat",
	"/proc/self/mountinfo", "/proc/stat", "/proc/interrupts",
	"/proc/timer_list", "/proc/cgroups", "/proc/iomem",
	"/proc/kallsyms", "/proc/kpageflags", "/proc/net/dev",
	"/proc/net/protocols",
};

static long read_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	long sum = 0, n;

	if (fd < 0)
		step(false, "open %s", path);
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		sum += n;
	if (n < 0 || !sum)
		step(false, "read %s", path);
	close(fd);
	return sum;
}

/* Every other page is free then, and all of them on one list of the zone. */
static void fragment_memory(char *memory, long size)
{
	long offset;

	for (offset = 0; offset < size; offset += 2 * PAGE)
		if (madvise(memory + offset, PAGE, MADV_DONTNEED))
			step(false, "free a page");
}

/* The most free pages of one page's size in a zone. */
static long long free_pages(void)
{
	FILE *file = fopen("/proc/buddyinfo", "r");
	long long n, most = 0;

	while (file && fscanf(file, "Node %*d, zone %*s %lld%*[^\n]\n", &n) == 1)
		most = n > most ? n : most;
	fclose(file);
	return most;
}

static void churn_proc(void)
{
	long reads = number("READS"), size = number("SIZE") * MB, bytes = 0, offset, i;
	const size_t nr = sizeof(proc_files) / sizeof(*proc_files);
	char *memory = take(size);
	size_t file;

	for (offset = 0; offset < 40 * MB; offset += 2 * PAGE)
		if (mprotect(memory + offset, PAGE, PROT_READ))
			step(false, "make mappings");
	fragment_memory(memory + 64 * MB, size - 64 * MB);
	value("work_free_pages_on_a_list", free_pages());
	step(free_pages() > size / PAGE / 4, "fragment the memory");
	start_tracing();
	for (i = 0; i < reads; i++)
		for (file = 0; file < nr; file++)
			bytes += read_file(proc_files[file]);
	stop_tracing();
	value("work_files_read", reads * nr);
	value("work_bytes_read", bytes);
	step(reads > 0 && bytes > 0, "read %zu files %ld times", nr, reads);
}

/* --- mount -------------------------------------------------------------- */

static void mount_one(const char *from, const char *to, const char *type,
		      unsigned long flags)
{
	if (mount(from, to, type, flags, ""))
		step(false, "mount %s on %s", from, to);
}

static void unmount_one(const char *path, int flags)
{
	if (umount2(path, flags))
		step(false, "unmount %s", path);
}

/* As a container's start and end: a file system of its own with some files. */
static void mount_loop(long i)
{
	char path[32];
	long n;

	mount_one("none", "/m/fs", "tmpfs", 0);
	for (n = 0; n < 50; n++) {
		snprintf(path, sizeof(path), "/m/fs/f%ld", n);
		write_file(path, 100);
	}
	unmount_one("/m/fs", 0);
	if (i % 8)
		return;
	mount_one("/dev/pmem0p1", "/a", "ext4", 0);
	write_file("/a/file", 10000);
	unmount_one("/a", 0);
}

/* A copy of all mounts that ends with the process. */
static void copy_namespace(void)
{
	pid_t child = fork();

	if (!child)
		_exit(unshare(CLONE_NEWNS) || umount2("/m/tree", MNT_DETACH));
	wait_for(child, "copy the mount namespace");
}

static void churn_mounts(void)
{
	long mounts = number("MOUNTS"), i, seen;
	char path[32];

	make_dir("/m");
	mount_one("none", "/m", "tmpfs", 0);
	make_dir("/m/fs");
	make_dir("/m/tree");
	make_dir("/m/copy");
	start_tracing();
	for (i = 0; i < mounts / 4; i++)
		mount_loop(i);
	mount_one("none", "/m/tree", "tmpfs", 0);
	mount_one(NULL, "/m/tree", NULL, MS_SHARED);
	for (i = 0; i < mounts; i++) {
		snprintf(path, sizeof(path), "/m/tree/%ld", i);
		make_dir(path);
		mount_one("/m/fs", path, NULL, MS_BIND);
	}
	mount_one("/m/tree", "/m/copy", NULL, MS_BIND | MS_REC);
	seen = count_lines("/proc/self/mountinfo", " /m/");
	for (i = 0; i < 4; i++)
		copy_namespace();
	unmount_one("/m/copy", MNT_DETACH);
	unmount_one("/m/tree", MNT_DETACH);
	stop_tracing();
	value("work_mounts", seen + mounts / 4);
	step(mounts > 0 && seen == 2 * mounts + 2 &&
	     !count_lines("/proc/self/mountinfo", " /m/"),
	     "mount and unmount 2 * %ld", mounts);
}

/* --- memory cgroups ----------------------------------------------------- */

static void make_group(long i)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "/cg/g%ld", i);
	if (mkdir(path, 0755))
		step(false, "mkdir %s", path);
	snprintf(path, sizeof(path), "/cg/g%ld/memory.high", i);
	snprintf(text, sizeof(text), "%ld", 16 * MB);
	set(path, text);
}

/* Its memory and the file it wrote are the group's. Never to return. */
static void use_group(long i)
{
	char path[64];
	char *memory;

	snprintf(path, sizeof(path), "/cg/g%ld/cgroup.procs", i);
	set(path, "0");
	memory = take(MB);
	memset(memory, 1, MB);
	snprintf(path, sizeof(path), "/b/g%ld", i);
	write_file(path, MB);
	snprintf(path, sizeof(path), "/t/g%ld", i);
	write_file(path, MB / 4);
	_exit(0);
}

static void fill_group(long i)
{
	pid_t child = fork();

	if (!child)
		use_group(i);
	wait_for(child, "use a group");
}

/* Writes more than may stay. The kernel says EAGAIN if it could not take that much. */
static void reclaim_group(long i)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/cg/g%ld/memory.reclaim", i);
	fd = open(path, O_WRONLY);
	if (fd < 0 || (write(fd, "512K", 4) < 0 && errno != EAGAIN))
		step(false, "write to %s", path);
	close(fd);
}

static void remove_group(long i)
{
	char path[64];
	int tries;

	snprintf(path, sizeof(path), "/cg/g%ld", i);
	for (tries = 0; rmdir(path); tries++) {
		if (tries == 100)
			step(false, "rmdir %s", path);
		usleep(10000);
	}
}

static void churn_groups(void)
{
	long groups = number("GROUPS"), i, seen;
	long long charged = 0;
	char path[64];

	make_dir("/cg");
	make_dir("/t");
	step(!mount("none", "/cg", "cgroup2", 0, ""), "mount cgroup2");
	set("/cg/cgroup.subtree_control", "+memory +pids +io");
	step(!mount("/dev/pmem0p2", "/b", "ext4", 0, ""), "mount B");
	step(!mount("none", "/t", "tmpfs", 0, "size=80%"), "mount a tmpfs");
	start_tracing();
	for (i = 0; i < groups; i++) {
		make_group(i);
		fill_group(i);
		snprintf(path, sizeof(path), "/cg/g%ld/memory.stat", i);
		charged += counter(path, "file ");
		if (i % 4 == 0)
			reclaim_group(i);
	}
	seen = counter("/cg/cgroup.stat", "nr_descendants ");
	for (i = 0; i < groups; i++)
		remove_group(i);
	value("work_groups_dying", counter("/cg/cgroup.stat", "nr_dying_descendants "));
	read_file("/cg/memory.stat");
	sync();
	set("/proc/sys/vm/drop_caches", "3");
	for (i = 0; i < groups; i++) {
		snprintf(path, sizeof(path), "/t/g%ld", i);
		if (unlink(path))
			step(false, "unlink %s", path);
	}
	sleep(1);
	stop_tracing();
	value("work_groups", seen);
	value("work_bytes_charged", charged);
	step(groups > 0 && seen == groups && charged >= groups * MB &&
	     !counter("/cg/cgroup.stat", "nr_descendants "),
	     "create, charge and remove %ld groups", groups);
}

/* --- neighbours --------------------------------------------------------- */

static void set_address(int fd, unsigned long request, const char *text)
{
	struct ifreq r = { .ifr_name = "dummy0" };
	struct sockaddr_in *address = (void *)&r.ifr_addr;

	address->sin_family = AF_INET;
	inet_pton(AF_INET, text, &address->sin_addr);
	if (ioctl(fd, request, &r))
		step(false, "set the address %s", text);
}

/* A network on which nobody answers, and nobody gives up asking. */
static void set_up_network(int fd)
{
	struct ifreq r = { .ifr_name = "dummy0" };

	set_address(fd, SIOCSIFADDR, "10.0.0.1");
	set_address(fd, SIOCSIFNETMASK, "255.0.0.0");
	r.ifr_flags = IFF_UP | IFF_RUNNING;
	step(!ioctl(fd, SIOCSIFFLAGS, &r), "start dummy0");
	set("/proc/sys/net/ipv4/neigh/dummy0/retrans_time_ms", "600000");
}

/* Column @n of all CPUs. */
static long long arp_statistic(int n)
{
	FILE *file = fopen("/proc/net/stat/arp_cache", "r");
	unsigned long long word, sum = 0;
	char line[512];

	if (!file || !fgets(line, sizeof(line), file))
		step(false, "read /proc/net/stat/arp_cache");
	while (fgets(line, sizeof(line), file)) {
		char *at = line;
		int i;

		for (i = 0; i <= n; i++)
			word = strtoull(at, &at, 16);
		sum += word;
	}
	fclose(file);
	return sum;
}

static void churn_neighbours(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	long neighbours = number("NEIGHBOURS"), i;
	int fd = socket(AF_INET, SOCK_DGRAM, 0), room = 256 * MB;
	char text[24];

	/* What is sent waits for the answer, in memory of the socket's. */
	step(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)),
	     "a socket with room");
	set_up_network(fd);
	snprintf(text, sizeof(text), "%ld", neighbours / 10 * 9);
	set("/proc/sys/net/ipv4/neigh/default/gc_thresh3", text);
	snprintf(text, sizeof(text), "%ld", neighbours / 2);
	set("/proc/sys/net/ipv4/neigh/default/gc_thresh2", text);
	start_tracing();
	for (i = 0; i < neighbours; i++) {
		to.sin_addr.s_addr = htonl((10 << 24) + 256 + i);
		sendto(fd, "", 1, 0, (void *)&to, sizeof(to));
		if (i == neighbours / 10 * 9)
			read_file("/proc/net/arp");
	}
	stop_tracing();
	value("work_neighbours", arp_statistic(1));
	value("work_forced_gc_runs", arp_statistic(10));
	step(neighbours > 0 && arp_statistic(1) >= neighbours / 2 &&
	     arp_statistic(10) > 0, "send to %ld neighbours", neighbours);
}

/* Does what is called @what, if it is one of these. */
bool churn(const char *what)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} workloads[] = {
		{ "fork", churn_forks }, { "files", churn_files },
		{ "proc", churn_proc }, { "mount", churn_mounts },
		{ "memcg", churn_groups }, { "neigh", churn_neighbours },
	};
	size_t i;

	for (i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		if (!strcmp(what, workloads[i].name)) {
			workloads[i].run();
			return true;
		}
	return false;
}
