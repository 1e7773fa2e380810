#include "supervise/trace.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervise/acts.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/lock.h"
#include "supervise/wire.h"
#include "sys/notify.h"

#define HELD 64       /* calls at a time; of more than these the oldest is not told */
#define NAME_MOST 600 /* bytes of a path that is shown */

struct held {
	uint64_t id; /* 0: free */
	uint64_t since_ns;
	pid_t thread;
	char what[2 * NAME_MOST + 100];
};

static int trace = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of: */
static struct held held[HELD];
static size_t next;

int sb_trace_fd(void)
{
	return trace;
}

static struct held *find(uint64_t id)
{
	for (size_t i = 0; i < HELD; i++)
		if (held[i].id == id)
			return &held[i];
	return NULL;
}

static struct held *take_up(uint64_t id, pid_t thread)
{
	struct held *one = find(id);

	if (!one)
		one = find(0);
	if (!one)
		one = &held[next++ % HELD];
	if (one->id != id)
		*one = (struct held){.id = id, .since_ns = sb_now_ns(), .thread = thread};
	return one;
}

/* With the lock. */
static void tell(struct held *one, const char *verdict)
{
	char line[sizeof one->what + 200];
	int length = snprintf(line, sizeof line, "# %d %s = %s, %llu us\n", (int)one->thread,
			      one->what, verdict,
			      (unsigned long long)(sb_now_ns() - one->since_ns) / 1000);

	one->id = 0;
	if (length > 0 && (size_t)length < sizeof line)
		(void)!write(trace, line, (size_t)length);
}

/* Whoever is told of it has answered already, so the caller does not wait for us. */
static void answered(uint64_t id, long value, bool goes_on)
{
	struct held *one;
	char verdict[64];

	if (goes_on)
		snprintf(verdict, sizeof verdict, "goes on");
	else if (value < 0)
		snprintf(verdict, sizeof verdict, "-1 (%s)", strerror((int)-value));
	else
		snprintf(verdict, sizeof verdict, "%ld", value);
	SB_AUTO_LOCK(&lock);
	one = find(id);
	if (one)
		tell(one, verdict);
}

void sb_trace_begin(int fd)
{
	trace = fd;
	sb_sys_notify_tell(fd >= 0 ? answered : NULL);
}

static const char *name_of(int number)
{
	switch (number) {
	case SYS_socket:
		return "socket";
	case SYS_socketpair:
		return "socketpair";
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
	case SYS_pidfd_send_signal:
		return "signal";
	default:
		return "call";
	}
}

void sb_trace_held(const struct seccomp_notif *notification)
{
	struct held *one;

	if (trace < 0)
		return;
	SB_AUTO_LOCK(&lock);
	one = take_up(notification->id, (pid_t)notification->pid);
	snprintf(one->what, sizeof one->what, "%s %d", name_of(notification->data.nr),
		 notification->data.nr);
}

static void put_path(struct sb_buf *out, const char *path)
{
	char safe[NAME_MOST];

	sb_buf_printf(out, "'%s'", sb_escape_line(safe, sizeof safe, path));
}

static void put_name(struct sb_buf *out, const struct sb_named *named)
{
	if (named->by_descriptor) {
		sb_buf_printf(out, "descriptor %d", named->fd);
		return;
	}
	if (named->fd >= 0 && named->path[0] != '/')
		sb_buf_printf(out, "%d:", named->fd);
	put_path(out, named->path);
}

/* Of the socket; abstract ones begin with a NUL, which is shown as '@'. */
static void put_address(struct sb_buf *out, const struct sb_call *call)
{
	char path[sizeof((struct sockaddr_un *)NULL)->sun_path + 1] = "";
	size_t before = offsetof(struct sockaddr_un, sun_path), length = call->address_length;

	if (call->address.ss_family != AF_UNIX || length <= before ||
	    length - before >= sizeof path)
		return;
	memcpy(path, ((const struct sockaddr_un *)&call->address)->sun_path, length - before);
	if (!path[0])
		path[0] = '@';
	put_path(out, path);
}

static void know(const struct sb_call *call, const struct sb_buf *text)
{
	struct held *one;

	SB_AUTO_LOCK(&lock);
	one = take_up(call->id, call->thread);
	snprintf(one->what, sizeof one->what, "%s", text->data);
}

void sb_trace_call(const struct sb_call *call)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(sizeof held->what - 1);

	if (trace < 0)
		return;
	sb_buf_printf(&text, "%s ", sb_acts[call->act].name);
	if (call->act == SB_ACT_CONNECT || call->act == SB_ACT_BIND)
		put_address(&text, call);
	else if (call->file.by_descriptor || call->file.path[0])
		put_name(&text, &call->file);
	if (sb_call_is_two(call)) {
		sb_buf_puts(&text, " -> ");
		put_name(&text, &call->target);
	}
	know(call, &text);
}

void sb_trace_taken_on(const struct sb_wire_request *request)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(sizeof held->what - 1);

	if (trace < 0)
		return;
	sb_buf_printf(&text, "%s ", sb_acts[request->call.act].name);
	put_path(&text, request->file.path);
	if (sb_call_is_two(&request->call)) {
		sb_buf_puts(&text, " -> ");
		put_path(&text, request->target.path);
	}
	know(&request->call, &text);
}

void sb_trace_passed_on(const struct sb_call *call)
{
	struct held *one;

	if (trace < 0)
		return;
	SB_AUTO_LOCK(&lock);
	one = find(call->id);
	if (one)
		tell(one, "asks");
}
