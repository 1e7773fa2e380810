/*
 * Landlock's scope (ABI 6) keeps a process from connecting to abstract unix sockets
 * made outside its domain.  A socket with a path name is not covered, not even on a
 * read-only mount: those need masks (and later the broker).
 */
#include "fact.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_un abstract_address, path_address;
static socklen_t abstract_length, path_length;
static bool scoped, read_only;
static const struct sockaddr_un *address;
static socklen_t address_length;

static int listen_on(const struct sockaddr_un *where, socklen_t length)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)where, length) < 0 || listen(fd, 8) < 0) {
		printf("Bail out! cannot listen: %s\n", strerror(errno));
		exit(1);
	}
	return fd;
}

static int connect_there(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (read_only && ((errno = enter_namespaces(CLONE_NEWNS)) || (errno = all_read_only())))
		return broken("read-only mounts");
	if (scoped && (errno = landlock(LL_WRITES_ABI1, LL_SCOPE_ABSTRACT_UNIX, NULL)))
		return broken("Landlock");
	return connect(fd, (const struct sockaddr *)address, address_length) < 0 ? errno : 0;
}

/* A listener made inside the domain can be reached. */
static int connect_inside(void)
{
	struct sockaddr_un own = abstract_address;
	socklen_t length = abstract_length + 1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if ((errno = landlock(LL_WRITES_ABI1, LL_SCOPE_ABSTRACT_UNIX, NULL)))
		return broken("Landlock");
	own.sun_path[length - offsetof(struct sockaddr_un, sun_path) - 1] = '2';
	listen_on(&own, length);
	return connect(fd, (struct sockaddr *)&own, length) < 0 ? errno : 0;
}

int main(void)
{
	need_landlock(6);
	fact_dir();
	abstract_address.sun_family = path_address.sun_family = AF_UNIX;
	snprintf(abstract_address.sun_path + 1, sizeof abstract_address.sun_path - 1,
		 "sandbash-fact-%d", (int)getpid());
	abstract_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				      strlen(abstract_address.sun_path + 1));
	strncpy(path_address.sun_path, "socket", sizeof path_address.sun_path - 1);
	path_length = sizeof path_address;
	listen_on(&abstract_address, abstract_length);
	listen_on(&path_address, path_length);

	address = &abstract_address;
	address_length = abstract_length;
	expect(attempt(connect_there), 0, "an abstract socket can be reached without the scope");
	scoped = true;
	expect(attempt(connect_there), EPERM, "with it, it cannot");
	expect(attempt(connect_inside), 0, "one made inside can");
	address = &path_address;
	address_length = path_length;
	expect(attempt(connect_there), 0, "a socket with a path name is not covered");
	if (attempt(probe_mount) == 0) {
		read_only = true;
		expect(attempt(connect_there), 0, "not even on a read-only mount");
	}
	return fact_done();
}
