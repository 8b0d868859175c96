// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * PID 1 of every test guest, User-Mode Linux and QEMU alike; static, no shell.
 *
 * It reads a list of directives (the file named by UBOE_CONF in its
 * environment, /vm.conf by default), builds a root file system in a tmpfs out
 * of the host's read-only root, runs one program in it and reports:
 *
 *	uboe-verdict 1
 *	exit N                 or: signal N
 *	kmemleak BYTES         then that many bytes (only when asked for)
 *	kmsg BYTES             then that many bytes, records of /dev/kmsg
 *	end
 *
 * A report without its last line is no report.
 *
 * Directives, one a line, word and rest:
 *	lane uml|qemu		how the host's files are reached
 *	insmod FILE		load a module of the initramfs
 *	verdict PATH|PORT	file in the new root, or name of a virtio port
 *	output PORT		virtio port for standard output and error
 *	tty DEV			interactive terminal
 *	share TAG DIR PATH	host folder DIR, writable, at PATH (QEMU: 9p TAG)
 *	host DIR		make the host's DIR visible where it is (read only)
 *	modules RELEASE DIR	host's DIR becomes /lib/modules/RELEASE
 *	net IF MTU IPV4/LEN IPV6/LEN
 *	mhz NUMBER		put a "cpu MHz" line into /proc/cpuinfo
 *	kmemleak		scan for leaks after the program
 *	env NAME=VALUE
 *	cwd DIR
 *	arg WORD		the program and its arguments
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define NEW_ROOT_UML "/tmp"
#define NEW_ROOT_QEMU "/new"
#define MAX_ITEMS 256

struct net_config {
	char name[IFNAMSIZ];
	int mtu;
	char v4[INET_ADDRSTRLEN];
	int v4_len;
	char v6[INET6_ADDRSTRLEN];
	int v6_len;
};

struct config {
	bool uml;
	bool kmemleak;
	char *verdict;
	char *output;
	char *tty;
	char *cwd;
	char *mhz;
	char *modules_release;
	char *modules_dir;
	char *insmod[MAX_ITEMS];
	char *share[MAX_ITEMS];
	char *host[MAX_ITEMS];
	char *arg[MAX_ITEMS];
	int n_insmod, n_share, n_host, n_arg, n_net;
	struct net_config net[8];
};

static struct config cfg;

static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "init: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(args);
	power_off();
}

static char *format(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		die("out of memory");
	va_end(args);
	return text;
}

static void make_dirs(const char *path)
{
	char *copy = format("%s", path);

	for (char *p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(copy, 0755);
		*p = '/';
	}
	mkdir(copy, 0755);
	free(copy);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0 && errno != EINVAL)
		fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
	close(fd);
}

/* Configuration */

static void add_item(char **items, int *count, char *text)
{
	if (*count == MAX_ITEMS - 1) {
		errno = E2BIG;
		die("too many directives");
	}
	items[(*count)++] = text;
}

static void parse_net(const char *rest)
{
	struct net_config *net = &cfg.net[cfg.n_net];

	if (cfg.n_net == 8 ||
	    sscanf(rest, "%15s %d %15[^/]/%d %45[^/]/%d", net->name, &net->mtu,
		   net->v4, &net->v4_len, net->v6, &net->v6_len) != 6) {
		errno = EINVAL;
		die("net %s", rest);
	}
	cfg.n_net++;
}

static void parse_line(char *line)
{
	char *rest = strchrnul(line, ' ');

	if (*rest)
		*rest++ = '\0';
	rest = format("%s", rest);

	if (!strcmp(line, "lane"))
		cfg.uml = !strcmp(rest, "uml");
	else if (!strcmp(line, "insmod"))
		add_item(cfg.insmod, &cfg.n_insmod, rest);
	else if (!strcmp(line, "verdict"))
		cfg.verdict = rest;
	else if (!strcmp(line, "output"))
		cfg.output = rest;
	else if (!strcmp(line, "tty"))
		cfg.tty = rest;
	else if (!strcmp(line, "share"))
		add_item(cfg.share, &cfg.n_share, rest);
	else if (!strcmp(line, "host"))
		add_item(cfg.host, &cfg.n_host, rest);
	else if (!strcmp(line, "net"))
		parse_net(rest);
	else if (!strcmp(line, "mhz"))
		cfg.mhz = rest;
	else if (!strcmp(line, "kmemleak"))
		cfg.kmemleak = true;
	else if (!strcmp(line, "env"))
		putenv(rest);
	else if (!strcmp(line, "cwd"))
		cfg.cwd = rest;
	else if (!strcmp(line, "arg"))
		add_item(cfg.arg, &cfg.n_arg, rest);
	else if (!strcmp(line, "modules")) {
		cfg.modules_release = strsep(&rest, " ");
		cfg.modules_dir = rest;
	} else if (*line) {
		errno = EINVAL;
		die("directive %s", line);
	}
}

static void read_config(void)
{
	const char *path = getenv("UBOE_CONF") ?: "/vm.conf";
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		die("%s", path);
	unsetenv("UBOE_CONF");
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		parse_line(line);
	}
	fclose(file);
	if (!cfg.verdict || (!cfg.n_arg)) {
		errno = EINVAL;
		die("verdict or arg missing in %s", path);
	}
}

/* File systems */

static void load_modules(void)
{
	for (int i = 0; i < cfg.n_insmod; i++) {
		int fd = open(cfg.insmod[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 &&
			       errno != EEXIST))
			die("insmod %s", cfg.insmod[i]);
		close(fd);
	}
}

static void mount_9p(const char *tag, const char *target, bool writable)
{
	/* The host does not change its root under a run; shares do change. */
	const char *options =
		writable ? "trans=virtio,version=9p2000.L,msize=262144,cache=none" :
			   "trans=virtio,version=9p2000.L,msize=262144,cache=loose";

	make_dirs(target);
	if (mount(tag, target, "9p", writable ? 0 : MS_RDONLY, options))
		die("mount 9p %s", tag);
}

/* Directories of the host's root that a guest has its own of. */
static bool is_own(const char *name)
{
	static const char *const own[] = { "proc", "sys", "dev", "run", "tmp",
					   "out",  "shared", "lost+found" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(name, own[i]))
			return true;
	return false;
}

static void bind_mount(const char *from, const char *to)
{
	make_dirs(to);
	if (mount(from, to, NULL, MS_BIND, NULL))
		die("bind %s on %s", from, to);
}

static void copy_host_root(const char *host, const char *root)
{
	DIR *dir = opendir(host);
	struct dirent *entry;

	if (!dir)
		die("%s", host);
	while ((entry = readdir(dir))) {
		char *from, *to;
		char link[PATH_MAX];
		struct stat st;
		ssize_t len;

		if (entry->d_name[0] == '.' || is_own(entry->d_name))
			continue;
		from = format("%s/%s", host, entry->d_name);
		to = format("%s/%s", root, entry->d_name);
		if (lstat(from, &st))
			continue;
		if (S_ISLNK(st.st_mode)) {
			len = readlink(from, link, sizeof(link) - 1);
			if (len > 0) {
				link[len] = '\0';
				if (symlink(link, to))
					die("symlink %s", to);
			}
		} else if (S_ISDIR(st.st_mode)) {
			bind_mount(from, to);
		}
		free(from);
		free(to);
	}
	closedir(dir);
}

static void mount_tmpfs(const char *target)
{
	make_dirs(target);
	if (mount("tmpfs", target, "tmpfs", 0, "mode=755"))
		die("tmpfs on %s", target);
}

static void mount_share(const char *root, char *text)
{
	char *tag = strsep(&text, " ");
	char *dir = strsep(&text, " ");
	char *target = format("%s%s", root, text);

	if (cfg.uml) {
		make_dirs(target);
		if (mount("none", target, "hostfs", 0, dir))
			die("hostfs %s", dir);
	} else {
		mount_9p(tag, target, true);
	}
	free(target);
}

/* Shows a folder of the host that lies where the guest has a tmpfs. */
static void mount_host_dir(const char *host, const char *root, const char *dir)
{
	char *target = format("%s%s", root, dir);
	char *from = format("%s%s", host, dir);
	struct stat st;

	if (stat(target, &st) == 0)
		goto out;
	make_dirs(target);
	if (cfg.uml) {
		if (mount("none", target, "hostfs", MS_RDONLY, dir))
			die("hostfs %s", dir);
	} else if (mount(from, target, NULL, MS_BIND, NULL)) {
		die("bind %s", from);
	}
out:
	free(target);
	free(from);
}

static void build_root(void)
{
	const char *host = cfg.uml ? "" : "/host";
	const char *root = cfg.uml ? NEW_ROOT_UML : NEW_ROOT_QEMU;
	char *modules;

	if (!cfg.uml)
		mount_9p("hostroot", host, false);
	mount_tmpfs(root);
	copy_host_root(*host ? host : "/", root);

	for (const char *const *p = (const char *const[]){ "/proc", "/sys",
							   "/dev", NULL };
	     *p; p++) {
		char *target = format("%s%s", root, *p);

		make_dirs(target);
		/* UML's init starts without them, QEMU's has mounted them. */
		if (mount(*p, target, NULL, MS_MOVE, NULL))
			die("move %s", *p);
		free(target);
	}
	for (const char *const *p = (const char *const[]){ "/run", "/tmp",
							   "/var/tmp", NULL };
	     *p; p++) {
		char *target = format("%s%s", root, *p);

		mount_tmpfs(target);
		chmod(target, 01777);
		free(target);
	}

	/* Modules of this kernel only, whatever the host has installed. */
	modules = format("%s/usr/lib/modules", root);
	mount_tmpfs(modules);
	if (cfg.modules_release) {
		char *from = format("%s%s", host, cfg.modules_dir);
		char *to = format("%s/%s", modules, cfg.modules_release);

		bind_mount(from, to);
	}

	for (int i = 0; i < cfg.n_host; i++)
		mount_host_dir(host, root, cfg.host[i]);
	for (int i = 0; i < cfg.n_share; i++)
		mount_share(root, cfg.share[i]);

	if (chdir(root) || mount(".", "/", NULL, MS_MOVE, NULL) ||
	    chroot(".") || chdir("/"))
		die("switch root");
}

static void mount_system(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL))
		die("proc");
	if (mount("sysfs", "/sys", "sysfs", 0, NULL))
		die("sysfs");
	/* The kernel may have mounted it already (DEVTMPFS_MOUNT). */
	if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY)
		die("devtmpfs");
}

static void mount_rest(void)
{
	mkdir("/dev/pts", 0755);
	mkdir("/dev/shm", 01777);
	mount("devpts", "/dev/pts", "devpts", 0, "ptmxmode=666,mode=620");
	mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
	if (mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL) &&
	    errno != EBUSY)
		fprintf(stderr, "init: no debugfs: %s\n", strerror(errno));
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	mount("configfs", "/sys/kernel/config", "configfs", 0, NULL);
	if (symlink("/proc/self/fd", "/dev/fd") ||
	    symlink("/proc/self/fd/0", "/dev/stdin") ||
	    symlink("/proc/self/fd/1", "/dev/stdout") ||
	    symlink("/proc/self/fd/2", "/dev/stderr"))
		return;
}

/* perftest reads its clock from a line that UML's cpuinfo does not have. */
static void fake_cpuinfo(void)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	FILE *out = fopen("/run/cpuinfo", "we");
	char line[1024];

	if (!in || !out)
		die("cpuinfo");
	while (fgets(line, sizeof(line), in)) {
		fputs(line, out);
		if (!strncmp(line, "model name", 10))
			fprintf(out, "cpu MHz\t\t: %s\n", cfg.mhz);
	}
	fclose(in);
	fclose(out);
	if (mount("/run/cpuinfo", "/proc/cpuinfo", NULL, MS_BIND, NULL))
		die("bind cpuinfo");
}

/* Network */

struct in6_ifreq_ {
	struct in6_addr addr;
	uint32_t prefix;
	int index;
};

static void interface_up(int fd, const char *name)
{
	struct ifreq ifr = { 0 };

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", name);
	if (ioctl(fd, SIOCGIFFLAGS, &ifr))
		die("interface %s", name);
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr))
		die("interface %s up", name);
}

static void set_v4(int fd, const struct net_config *net)
{
	struct ifreq ifr = { 0 };
	struct sockaddr_in *sin = (struct sockaddr_in *)&ifr.ifr_addr;

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", net->name);
	sin->sin_family = AF_INET;
	if (inet_pton(AF_INET, net->v4, &sin->sin_addr) != 1 ||
	    ioctl(fd, SIOCSIFADDR, &ifr))
		die("address %s", net->v4);
	sin->sin_addr.s_addr = htonl(net->v4_len ? ~0u << (32 - net->v4_len) : 0);
	if (ioctl(fd, SIOCSIFNETMASK, &ifr))
		die("netmask of %s", net->v4);
}

static void set_v6(const struct net_config *net)
{
	struct in6_ifreq_ req = { .prefix = net->v6_len };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	req.index = if_nametoindex(net->name);
	if (fd < 0 || inet_pton(AF_INET6, net->v6, &req.addr) != 1 ||
	    ioctl(fd, SIOCSIFADDR, &req))
		die("address %s", net->v6);
	close(fd);
}

static void setup_network(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket");
	/* Addresses must be usable at once, not after a second of DAD. */
	write_file("/proc/sys/net/ipv6/conf/all/accept_dad", "0");
	write_file("/proc/sys/net/ipv6/conf/default/accept_dad", "0");
	write_file("/proc/sys/net/ipv6/conf/default/dad_transmits", "0");
	interface_up(fd, "lo");
	for (int i = 0; i < cfg.n_net; i++) {
		const struct net_config *net = &cfg.net[i];
		struct ifreq ifr = { .ifr_mtu = net->mtu };
		char *path;

		snprintf(ifr.ifr_name, IFNAMSIZ, "%s", net->name);
		path = format("/proc/sys/net/ipv6/conf/%s/accept_dad", net->name);
		write_file(path, "0");
		free(path);
		path = format("/proc/sys/net/ipv6/conf/%s/dad_transmits", net->name);
		write_file(path, "0");
		free(path);
		if (ioctl(fd, SIOCSIFMTU, &ifr))
			die("mtu of %s", net->name);
		interface_up(fd, net->name);
		set_v4(fd, net);
		set_v6(net);
	}
	close(fd);
}

/* Ports and terminals */

static int open_port(const char *name, int flags)
{
	for (int try = 0; try < 500; try++) {
		DIR *dir = opendir("/sys/class/virtio-ports");
		struct dirent *entry;

		while (dir && (entry = readdir(dir))) {
			char *path = format("/sys/class/virtio-ports/%s/name",
					    entry->d_name);
			FILE *file = fopen(path, "re");
			char text[64] = "";

			free(path);
			if (!file)
				continue;
			if (!fgets(text, sizeof(text), file))
				text[0] = '\0';
			fclose(file);
			text[strcspn(text, "\n")] = '\0';
			if (!strcmp(text, name)) {
				path = format("/dev/%s", entry->d_name);
				closedir(dir);
				return open(path, flags | O_CLOEXEC);
			}
		}
		if (dir)
			closedir(dir);
		usleep(10000);
	}
	errno = ENODEV;
	return -1;
}

static void set_raw(int fd)
{
	struct termios tio;

	if (tcgetattr(fd, &tio))
		return;
	tio.c_oflag &= ~OPOST;
	tcsetattr(fd, TCSANOW, &tio);
}

/* Without a console of the kernel, PID 1 starts with no open files. */
static void open_terminal(const char *path)
{
	int fd = open(path, O_RDWR | O_NOCTTY);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		if (fd != i)
			dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static void redirect_output(void)
{
	int fd;

	if (cfg.tty)
		return;
	if (!cfg.output) {
		set_raw(1);
		return;
	}
	fd = open_port(cfg.output, O_WRONLY);
	if (fd < 0)
		die("port %s", cfg.output);
	dup2(fd, 1);
	dup2(fd, 2);
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	dup2(fd, 0);
	close(fd);
}

/* Report */

static int open_verdict(void)
{
	int fd;

	if (cfg.verdict[0] == '/')
		fd = open(cfg.verdict, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			  0644);
	else
		fd = open_port(cfg.verdict, O_WRONLY);
	if (fd < 0)
		die("verdict %s", cfg.verdict);
	return fd;
}

static void put(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			die("verdict");
		}
		p += n;
		size -= n;
	}
}

static void put_text(int fd, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		die("out of memory");
	va_end(args);
	put(fd, text, strlen(text));
	free(text);
}

/* Sends what can be read from a file without waiting, with its size first. */
static void put_file(int out, const char *label, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	size_t size = 0, room = 1 << 20;
	char *data = malloc(room);

	if (fd < 0 || !data) {
		/* No such section: the host counts that as a failure. */
		fprintf(stderr, "init: cannot read %s: %s\n", path,
			strerror(errno));
		free(data);
		return;
	}
	for (;;) {
		ssize_t n;

		if (room - size < 16384) {
			room *= 2;
			data = realloc(data, room);
			if (!data)
				die("out of memory");
		}
		n = read(fd, data + size, 8192);
		if (n < 0 && (errno == EINTR || errno == EPIPE))
			continue;
		if (n <= 0)
			break;
		size += n;
	}
	close(fd);
	put_text(out, "%s %zu\n", label, size);
	put(out, data, size);
	free(data);
}

static void clear_leaks(void)
{
	/* What the kernel itself did while booting is not ours. */
	write_file("/sys/kernel/debug/kmemleak", "scan=off");
	write_file("/sys/kernel/debug/kmemleak", "clear");
}

static void scan_leaks(void)
{
	/* A block is reported once it is 5 s old, on the second scan. */
	sleep(6);
	write_file("/sys/kernel/debug/kmemleak", "scan");
	write_file("/sys/kernel/debug/kmemleak", "scan");
}

static int run_program(void)
{
	pid_t child = fork();
	int status = 0;

	if (child < 0)
		die("fork");
	if (!child) {
		setsid();
		if (cfg.tty) {
			int fd = open(cfg.tty, O_RDWR);

			if (fd >= 0) {
				for (int i = 0; i < 3; i++)
					dup2(fd, i);
				ioctl(fd, TIOCSCTTY, 1);
			}
		}
		if (cfg.cwd && chdir(cfg.cwd))
			fprintf(stderr, "init: %s: %s\n", cfg.cwd, strerror(errno));
		execvp(cfg.arg[0], cfg.arg);
		fprintf(stderr, "init: %s: %s\n", cfg.arg[0], strerror(errno));
		_exit(127);
	}
	for (;;) {
		int one;
		pid_t pid = wait(&one);

		if (pid == child) {
			status = one;
			break;
		}
		if (pid < 0 && errno != EINTR)
			die("wait");
	}
	return status;
}

int main(void)
{
	int verdict, status;

	sethostname("guest", 5);
	mount_system();
	open_terminal(getenv("UBOE_CONSOLE") ?: "/dev/console");
	read_config();
	load_modules();
	build_root();
	mount_rest();
	if (cfg.mhz)
		fake_cpuinfo();
	setup_network();
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/tmp", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", getenv("UBOE_TERM") ?: "dumb", 1);
	verdict = open_verdict();
	redirect_output();
	if (cfg.kmemleak)
		clear_leaks();

	status = run_program();

	put_text(verdict, "uboe-verdict 1\n");
	if (WIFSIGNALED(status))
		put_text(verdict, "signal %d\n", WTERMSIG(status));
	else
		put_text(verdict, "exit %d\n", WEXITSTATUS(status));
	if (cfg.kmemleak) {
		scan_leaks();
		put_file(verdict, "kmemleak", "/sys/kernel/debug/kmemleak");
	}
	put_file(verdict, "kmsg", "/dev/kmsg");
	tcdrain(1);
	put_text(verdict, "end\n");
	fsync(verdict);
	/* UML 6.1 may crash in its halt; the host ends it on seeing the end. */
	while (cfg.uml)
		pause();
	power_off();
}
