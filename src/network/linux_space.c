/*
 * linux_space.c - a network namespace in which every address is local and nothing leads out.
 *
 * The namespace is there already, with its loopback interface up (enforce/linux_mounts.c).  All of this
 * works in a user namespace of one's own: the routes by netlink, the settings since they are the
 * namespace's and not the machine's (net_ctl_permissions() of the kernel).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/auto.h"
#include "network/network.h"
#include "sys/mount.h"
#include "sys/process.h"

#define LOOPBACK 1 /* the first interface of every namespace */

static const uint8_t own_address[4] = {198, 18, 0, 1}; /* where connections come from */
/* a prefix of our own (RFC 4193), which no route leads to */
static const uint8_t own_address6[16] = {0xfd, 0x5b, 0xa5, [15] = 1};

struct request {
	struct nlmsghdr header;
	union {
		struct rtmsg route;
		struct ifaddrmsg address;
	};
	char room[128];
};

static void add(struct request *request, unsigned short type, const void *data, size_t length)
{
	struct rtattr *one = (void *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));

	one->rta_type = type;
	one->rta_len = (unsigned short)RTA_LENGTH(length);
	memcpy(RTA_DATA(one), data, length);
	request->header.nlmsg_len =
		NLMSG_ALIGN(request->header.nlmsg_len) + (uint32_t)RTA_ALIGN(one->rta_len);
}

/* 0, or what the kernel says against it. */
static int tell(int netlink, struct request *request)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr answer;
		char room[512];
	} reply;
	ssize_t got;

	request->header.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (send(netlink, request, request->header.nlmsg_len, 0) < 0)
		return errno;
	got = recv(netlink, &reply, sizeof reply, 0);
	if (got < 0)
		return errno;
	if (got < (ssize_t)NLMSG_LENGTH(sizeof reply.answer) ||
	    reply.header.nlmsg_type != NLMSG_ERROR)
		return EBADMSG;
	return -reply.answer.error;
}

static int add_address(int netlink, int family, const void *address, size_t length)
{
	struct request request = {
		.header = {NLMSG_LENGTH(sizeof request.address), RTM_NEWADDR, NLM_F_CREATE, 0, 0},
		.address = {(uint8_t)family, (uint8_t)(length * 8), IFA_F_NODAD, RT_SCOPE_UNIVERSE,
			    LOOPBACK}};

	add(&request, IFA_LOCAL, address, length);
	add(&request, IFA_ADDRESS, address, length);
	return tell(netlink, &request);
}

/* All addresses of a family are ours. */
static int add_route(int netlink, int family, const void *source, size_t length)
{
	const int loopback = LOOPBACK;
	struct request request = {
		.header = {NLMSG_LENGTH(sizeof request.route), RTM_NEWROUTE, NLM_F_CREATE, 0, 0},
		.route = {.rtm_family = (uint8_t)family,
			  .rtm_table = RT_TABLE_LOCAL,
			  .rtm_protocol = RTPROT_STATIC,
			  .rtm_scope = RT_SCOPE_HOST,
			  .rtm_type = RTN_LOCAL}};

	add(&request, RTA_OIF, &loopback, sizeof loopback);
	add(&request, RTA_PREFSRC, source, length);
	return tell(netlink, &request);
}

/* Settings of this namespace; what comes later changes only how a program fails. */
static const struct {
	const char *name, *value;
	bool later;
} settings[] = {
	/* gates stand at the ports of hosts */
	{"sys/net/ipv4/ip_unprivileged_port_start", "0", false},
	/* a SYN that is put in again comes from an address that is ours */
	{"sys/net/ipv4/conf/lo/accept_local", "1", false},
	/* ... or 127.0.0.1: what comes by the wire has no route yet, and such would be no guest of lo's */
	{"sys/net/ipv4/conf/lo/route_localnet", "1", false},
	{"sys/net/ipv4/conf/all/rp_filter", "0", true},
	{"sys/net/ipv4/conf/lo/rp_filter", "0", true},
	/* of IPv6 a route alone does not make an address one that a socket may have */
	{"sys/net/ipv6/ip_nonlocal_bind", "1", true},
	/* programs then fall back to connect(), which is held */
	{"sys/net/ipv4/tcp_fastopen", "0", true},
	/* a person may take longer than two minutes */
	{"sys/net/ipv4/tcp_syn_retries", "20", true},
	/* else every host would answer a ping */
	{"sys/net/ipv4/icmp_echo_ignore_all", "1", true},
	{"sys/net/ipv6/icmp/echo_ignore_all", "1", true},
	/* the kernel says for each datagram to nobody that nobody is there: that is how we learn */
	{"sys/net/ipv4/icmp_ratelimit", "0", true},
	{"sys/net/ipv6/icmp/ratelimit", "0", true},
};

/* --- what the C library looks names up by --------------------------------------------------------- */

/* A file's text, or "": it is not there. */
static void read_file(const char *path, char *out, size_t size)
{
	SB_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, out, size - 1);

	out[length > 0 ? length : 0] = '\0';
}

/* Before Linux 6.15 only what has a place can be cloned: so it has one for a moment, which nobody needs. */
static int clone_at_proc(int tree)
{
	SB_AUTO_FD int place = sb_sys_open_path("/proc");
	int clone, status = place < 0 ? place : sb_sys_attach(tree, place);

	if (status < 0)
		return status;
	clone = sb_sys_clone_tree(AT_FDCWD, "/proc/file");
	status = sb_sys_detach("/proc");
	if (status < 0 && clone >= 0)
		close(clone);
	return status < 0 ? status : clone;
}

/* A file with this text, as a tree that can be attached. */
static int make_file(const char *text)
{
	SB_AUTO_FD int tree = sb_sys_new_tmpfs("0755");
	SB_AUTO_FD int file = -1;
	SB_AUTO_FD int clone = -1;

	if (tree < 0)
		return tree;
	file = openat(tree, "file", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	if (file < 0 || fchmod(file, 0644) != 0 || write(file, text, strlen(text)) < 0)
		return -errno;
	clone = sb_sys_clone_tree(tree, "file");
	if (clone < 0)
		clone = clone_at_proc(tree);
	if (clone >= 0 && sb_sys_make_readonly(clone) < 0)
		return -EACCES;
	return sb_take_fd(&clone);
}

/* Without it more is asked about, or by address; nothing more is open. */
static void show(const char *path, const char *text)
{
	SB_AUTO_FD int tree = make_file(text);
	SB_AUTO_FD int place = sb_sys_open_path(path);

	if (tree >= 0 && place >= 0)
		sb_sys_attach(tree, place);
}

/* Inside, every name is there: a list of endings to try would never come to its end. */
static void show_resolver(const struct utsname *machine)
{
	char path[PATH_MAX], text[4096];

	if (!realpath("/etc/resolv.conf", path))
		return;
	read_file(path, text, sizeof text);
	/* which server is named is all the same; glibc takes a list from the name of the machine */
	if (strstr(text, "search") || strstr(text, "domain") || strstr(text, "options") ||
	    strchr(machine->nodename, '.'))
		show(path, "# made by sandbash: hosts are decided about when they are reached\n"
			   "nameserver 198.18.0.2\nsearch .\n");
}

/* Names of other hosts, which would be looked up to addresses: rules mean names. */
static void show_hosts(const struct utsname *machine)
{
	char path[PATH_MAX], text[16384], own[256];
	struct sb_address address;

	if (!realpath("/etc/hosts", path))
		return;
	read_file(path, text, sizeof text);
	for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (!sb_address_parse(line, strcspn(line, " \t\n"), &address) ||
		    sb_address_class(&address) == SB_ADDRESS_LOOPBACK)
			continue;
		snprintf(own, sizeof own,
			 "# made by sandbash: other names are looked up outside\n"
			 "127.0.0.1 localhost %s\n::1 localhost ip6-localhost\n",
			 machine->nodename);
		show(path, own);
		return;
	}
}

void sb_space_show(void)
{
	struct utsname machine = {0};

	uname(&machine);
	show_resolver(&machine);
	show_hosts(&machine);
}

void sb_space_settle(int proc)
{
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		if (settings[i].later)
			sb_sys_write_text(proc, settings[i].name, settings[i].value);
}

int sb_space_make(int proc, struct sb_error *err)
{
	SB_AUTO_FD int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int error = netlink < 0 ? errno : 0;

	if (!error)
		error = add_address(netlink, AF_INET, own_address, sizeof own_address);
	if (!error)
		error = add_route(netlink, AF_INET, own_address, sizeof own_address);
	if (error)
		return sb_fail(err, SB_E_UNSUPPORTED, error,
			       "cannot decide about hosts by name: the network namespace cannot be "
			       "set up");
	/* a machine without IPv6 has nothing to route: EAFNOSUPPORT, EOPNOTSUPP, EACCES */
	if (add_address(netlink, AF_INET6, own_address6, sizeof own_address6) == 0)
		add_route(netlink, AF_INET6, own_address6, sizeof own_address6);
	for (size_t i = 0; i < sizeof settings / sizeof settings[0] && !settings[i].later; i++) {
		error = -sb_sys_write_text(proc, settings[i].name, settings[i].value);
		if (error)
			return sb_fail(err, SB_E_UNSUPPORTED, error,
				       "cannot decide about hosts by name: cannot set /proc/%s",
				       settings[i].name);
	}
	return SB_OK;
}
