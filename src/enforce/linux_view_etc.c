/*
 * linux_view_etc.c - /etc of a view: what programs need to start, to tell time and to trust a server.
 *
 * A list of what is there, so that nothing of the machine's own (accounts, hosts, services, keys) is by accident.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "enforce/view_impl.h"

#define COPY_BYTES (64 * 1024) /* of a file that is copied: a longer one is shown instead */

/* Large, or many files: shown as they are.  Links lead to what is shown elsewhere, and are left out. */
static const char *const shown[] = {"etc/alternatives", "etc/ld.so.cache",   "etc/ssl/certs",
				    "etc/pki/ca-trust", "etc/pki/tls/certs", "etc/crypto-policies"};

static const char *const copied[] = {"etc/localtime", "etc/os-release", "etc/ssl/openssl.cnf"};

static const char *const for_network[] = {"etc/resolv.conf", "etc/hosts", "etc/gai.conf",
					  "etc/services"};

static bool copy(struct sb_view_job *job, const char *name)
{
	char path[64], bytes[COPY_BYTES];
	SB_AUTO_FD int fd = -1;
	ssize_t length;

	snprintf(path, sizeof path, "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	length = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
	return length < 0 || sb_view_put(job, name, bytes, (size_t)length);
}

static bool show(struct sb_view_job *job, const char *name)
{
	char path[64];
	struct stat info;

	snprintf(path, sizeof path, "/%s", name);
	if (lstat(path, &info) != 0 || S_ISLNK(info.st_mode))
		return true;
	return (S_ISDIR(info.st_mode) ? sb_view_mkdir(job, name, 0755)
				      : sb_view_put(job, name, "", 0)) &&
	       sb_view_show(job, path, name);
}

/* root and nobody own files that are seen; of the others there is the one who looks. */
static bool put_accounts(struct sb_view_job *job)
{
	SB_AUTO_BUF struct sb_buf users = SB_BUF(4096);
	SB_AUTO_BUF struct sb_buf groups = SB_BUF(4096);

	sb_buf_puts(&users, "root:x:0:0:root:/tmp:/bin/sh\n");
	sb_buf_puts(&groups, "root:x:0:\n");
	if (getuid() != 0)
		sb_buf_printf(&users, "worker:x:%u:%u:worker:/tmp:/bin/sh\n", getuid(), getgid());
	if (getgid() != 0)
		sb_buf_printf(&groups, "worker:x:%u:\n", getgid());
	sb_buf_puts(&users, "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
	sb_buf_puts(&groups, "nogroup:x:65534:\n");
	return sb_view_put(job, "etc/passwd", users.data, users.length) &&
	       sb_view_put(job, "etc/group", groups.data, groups.length);
}

static bool put_names(struct sb_view_job *job)
{
	static const char services[] = "passwd: files\ngroup: files\nhosts: files dns\n"
				       "services: files\n";
	static const char hosts[] = "127.0.0.1 localhost\n::1 localhost\n";

	if (!sb_view_put(job, "etc/nsswitch.conf", services, strlen(services)))
		return false;
	if (!job->view->network)
		return sb_view_put(job, "etc/hosts", hosts, strlen(hosts));
	for (size_t i = 0; i < SB_COUNT(for_network); i++)
		if (!copy(job, for_network[i]))
			return false;
	return true;
}

static bool put_workers(struct sb_view_job *job)
{
	char name[sizeof SB_VIEW_WORKERS + NAME_MAX + 1];

	if (job->view->worker_count && !sb_view_mkdir(job, &SB_VIEW_WORKERS[1], 0755))
		return false;
	for (size_t i = 0; i < job->view->worker_count; i++) {
		const struct sb_view_file *file = &job->view->workers[i];

		snprintf(name, sizeof name, "%s/%s", &SB_VIEW_WORKERS[1], file->name);
		if (!sb_view_put(job, name, file->text, strlen(file->text)))
			return false;
	}
	return true;
}

bool sb_view_make_etc(struct sb_view_job *job)
{
	static const char *const ways[] = {"/etc/ssl", "/etc/pki", "/etc/pki/tls"};

	if (!sb_view_mkdir(job, "etc", 0755))
		return false;
	for (size_t i = 0; i < SB_COUNT(ways); i++)
		if (access(ways[i], F_OK) == 0 && !sb_view_mkdir(job, ways[i] + 1, 0755))
			return false;
	for (size_t i = 0; i < SB_COUNT(shown); i++)
		if (!show(job, shown[i]))
			return false;
	for (size_t i = 0; i < SB_COUNT(copied); i++)
		if (!copy(job, copied[i]))
			return false;
	return put_accounts(job) && put_names(job) && sb_view_mkdir(job, "etc/sandbash", 0755) &&
	       put_workers(job);
}
