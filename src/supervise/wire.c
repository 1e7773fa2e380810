#include "supervise/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/rights.h"

/* Paths, link text and attribute value in front of each other, after the fixed part. */
#define MAX_TEXT (3 * PATH_MAX + SB_INNER_WORKERS + SB_INNER_SAYS + SB_XATTR_SIZE)

struct head {
	struct sb_wire_message message;
	/* a request */
	uint64_t id;
	pid_t thread, process;
	enum sb_act act;
	int flags, at_flags, target_error;
	mode_t mode, umask;
	dev_t device;
	off_t length;
	uid_t owner;
	gid_t group;
	struct timespec times[2];
	struct sockaddr_storage address;
	socklen_t address_length;
	struct stat info;
	uint64_t permit;
	uint8_t through_fd, replaces, shares; /* not bool: what comes is any byte */
	uint8_t inner, inner_read_only;       /* the first a verdict */
	unsigned domain;
	char file_name[NAME_MAX + 2], target_name[NAME_MAX + 2];
	size_t file_path, target_path, text, workers, says, value; /* lengths */
	uint8_t has[SB_WIRE_FDS]; /* which descriptors follow, in this order: */
};

/* Those of struct sb_call that travel as they are. */
#define CALL_FIELDS(USE)                                                                           \
	USE(id)                                                                                    \
	USE(thread)                                                                                \
	USE(act)                                                                                   \
	USE(flags)                                                                                 \
	USE(at_flags)                                                                              \
	USE(target_error)                                                                          \
	USE(mode)                                                                                  \
	USE(device)                                                                                \
	USE(length)                                                                                \
	USE(owner)                                                                                 \
	USE(group)                                                                                 \
	USE(permit)                                                                                \
	USE(shares)

enum { FILE_DIRECTORY, FILE_OBJECT, TARGET_DIRECTORY, SOCKET };

static int send_parts(int channel, struct iovec *parts, size_t count, const int *fds,
		      size_t fd_count)
{
	ssize_t sent = sb_sys_send_rights(channel, parts, count, fds, fd_count, 0);

	return sent < 0 ? (int)sent : 0;
}

int sb_wire_send(int channel, const struct sb_wire_message *message, int fd)
{
	struct head head;
	struct iovec part = {&head, sizeof head};

	memset(&head, 0, sizeof head);
	head.message = *message;
	return send_parts(channel, &part, 1, &fd, fd >= 0);
}

int sb_wire_send_text(int channel, const struct sb_wire_message *message, const char *text)
{
	struct head head;
	struct iovec parts[2] = {{&head, sizeof head}, {(void *)text, strlen(text)}};

	memset(&head, 0, sizeof head);
	head.message = *message;
	head.text = strlen(text);
	return send_parts(channel, parts, 2, NULL, 0);
}

int sb_wire_send_note(int channel, enum sb_note_weight weight, const char *line)
{
	const struct sb_wire_message message = {.kind = SB_WIRE_NOTE, .number = (int)weight};

	return sb_wire_send_text(channel, &message, line);
}

enum sb_note_weight sb_wire_weight(const struct sb_wire_message *message)
{
	return message->number == SB_NOTE_TOLD     ? SB_NOTE_TOLD
	       : message->number == SB_NOTE_LANDED ? SB_NOTE_LANDED
						   : SB_NOTE_GRAVE;
}

int sb_wire_send_request(int channel, const struct sb_wire_request *request)
{
	const struct sb_call *call = &request->call;
	const int all[SB_WIRE_FDS] = {request->file.directory, request->file.object,
				      request->target.directory, request->socket};
	struct iovec parts[7];
	struct head head;
	int fds[SB_WIRE_FDS];
	size_t fd_count = 0;

	memset(&head, 0, sizeof head);
	head.message.kind = SB_WIRE_REQUEST;
#define PACK(field) head.field = call->field;
	CALL_FIELDS(PACK)
#undef PACK
	head.process = request->process;
	head.umask = request->umask;
	memcpy(head.times, call->times, sizeof head.times);
	if (call->act == SB_ACT_CONNECT || call->act == SB_ACT_BIND) {
		head.address = call->address;
		head.address_length = call->address_length;
	}
	head.info = request->file.info;
	head.through_fd = request->file.through_fd;
	head.inner = (uint8_t)request->inner.verdict;
	head.inner_read_only = request->inner.read_only;
	head.domain = request->inner.domain;
	head.workers = strlen(request->inner.workers);
	head.says = strlen(request->inner.says);
	head.replaces = call->replaces;
	memcpy(head.file_name, request->file.name, sizeof head.file_name);
	memcpy(head.target_name, request->target.name, sizeof head.target_name);
	head.file_path = strlen(request->file.path);
	head.target_path = strlen(request->target.path);
	head.text = strlen(call->text);
	head.value = call->value ? call->value_length : 0;
	for (int i = 0; i < SB_WIRE_FDS; i++) {
		head.has[i] = all[i] >= 0;
		if (all[i] >= 0)
			fds[fd_count++] = all[i];
	}
	parts[0] = (struct iovec){&head, sizeof head};
	parts[1] = (struct iovec){(void *)request->file.path, head.file_path};
	parts[2] = (struct iovec){(void *)request->target.path, head.target_path};
	parts[3] = (struct iovec){(void *)call->text, head.text};
	parts[4] = (struct iovec){(void *)request->inner.workers, head.workers};
	parts[5] = (struct iovec){(void *)request->inner.says, head.says};
	parts[6] = (struct iovec){call->value, head.value};
	return send_parts(channel, parts, 7, fds, fd_count);
}

/* Take length bytes from text as a string; false: there are not so many, or no room. */
static bool take(const char **text, size_t *left, size_t length, char *out, size_t size)
{
	if (length > *left || length >= size)
		return false;
	memcpy(out, *text, length);
	out[length] = '\0';
	*text += length;
	*left -= length;
	return true;
}

static int unpack(const struct head *head, const char *text, size_t left, const int *fds,
		  size_t fd_count, struct sb_wire_request *out)
{
	struct sb_call *call = &out->call;
	int slots[SB_WIRE_FDS] = {-1, -1, -1, -1};
	size_t used = 0;

	for (int i = 0; i < SB_WIRE_FDS; i++)
		if (head->has[i] && used < fd_count)
			slots[i] = fds[used++];
	while (used < fd_count)
		close(fds[used++]);
	memset(call, 0, sizeof *call);
	out->file = out->target = SB_SPOT_EMPTY;
	out->file.directory = slots[FILE_DIRECTORY];
	out->file.object = slots[FILE_OBJECT];
	out->target.directory = slots[TARGET_DIRECTORY];
	out->socket = slots[SOCKET];
#define UNPACK(field) call->field = head->field;
	CALL_FIELDS(UNPACK)
#undef UNPACK
	out->process = head->process;
	out->umask = head->umask;
	memcpy(call->times, head->times, sizeof call->times);
	call->address = head->address;
	call->address_length = head->address_length;
	out->file.info = head->info;
	out->file.through_fd = head->through_fd;
	call->replaces = head->replaces;
	out->inner.verdict = head->inner == SB_ALLOW || head->inner == SB_ASK
				     ? (enum sb_verdict)head->inner
				     : SB_DENY;
	out->inner.read_only = head->inner_read_only;
	out->inner.domain = head->domain;
	memcpy(out->file.name, head->file_name, sizeof out->file.name - 1);
	memcpy(out->target.name, head->target_name, sizeof out->target.name - 1);
	if (head->act >= SB_ACT_COUNT || head->address_length > sizeof call->address ||
	    !take(&text, &left, head->file_path, out->file.path, sizeof out->file.path) ||
	    !take(&text, &left, head->target_path, out->target.path, sizeof out->target.path) ||
	    !take(&text, &left, head->text, call->text, sizeof call->text) ||
	    !take(&text, &left, head->workers, out->inner.workers, sizeof out->inner.workers) ||
	    !take(&text, &left, head->says, out->inner.says, sizeof out->inner.says) ||
	    head->value != left)
		return -EBADMSG;
	if (head->value) {
		call->value = malloc(head->value);
		if (!call->value)
			return -ENOMEM;
		memcpy(call->value, text, head->value);
		call->value_length = head->value;
	}
	return 0;
}

/* Whatever comes, sb_wire_request_done() can follow.  Not all of it: that is 24 KB each time. */
static void make_releasable(struct sb_wire_request *request)
{
	request->file.directory = request->file.object = -1;
	request->target.directory = request->target.object = -1;
	request->file.borrowed = request->target.borrowed = false;
	request->file.whole = request->target.whole = NULL;
	request->socket = -1;
	request->call.value = NULL;
}

int sb_wire_receive(int channel, struct sb_wire_message *message, struct sb_wire_request *request,
		    int *out_fd)
{
	static char text[MAX_TEXT]; /* one reader per process, one message at a time */
	struct head head;
	struct iovec parts[2] = {{&head, sizeof head}, {text, sizeof text}};
	struct sb_sys_received came;
	ssize_t got;
	int status = 0;

	if (request)
		make_releasable(request);
	got = sb_sys_receive_rights(channel, parts, 2, SB_WIRE_FDS, 0, &came);
	if (got <= 0)
		return got < 0 ? (int)got : -EPIPE;
	if (request && (size_t)got >= sizeof head && head.message.kind == SB_WIRE_REQUEST &&
	    (came.flags & MSG_CTRUNC)) { /* our table is full; somebody waits for an answer */
		request->call.id = head.id;
		request->call.act = head.act;
		request->call.replaces = head.replaces;
		status = -EMFILE;
	} else if ((size_t)got < sizeof head || (came.flags & (MSG_TRUNC | MSG_CTRUNC))) {
		status = -EBADMSG;
	} else {
		*message = head.message;
		if (message->kind == SB_WIRE_REQUEST && request)
			return unpack(&head, text, (size_t)got - sizeof head, came.fds,
				      came.fd_count, request);
	}
	if (status == 0 && request &&
	    (message->kind == SB_WIRE_NOTE || message->kind == SB_WIRE_UNSEEN ||
	     message->kind == SB_WIRE_ALLOWED || message->kind == SB_WIRE_HOST)) {
		const char *at = text;
		size_t left = (size_t)got - sizeof head;

		if (head.text != left ||
		    !take(&at, &left, head.text, request->call.text, sizeof request->call.text))
			status = -EBADMSG;
	}
	for (size_t i = 0; i < came.fd_count; i++)
		if (i == 0 && status == 0 && out_fd)
			*out_fd = came.fds[i];
		else
			close(came.fds[i]);
	return status;
}

void sb_wire_request_done(struct sb_wire_request *request)
{
	sb_spot_done(&request->file);
	sb_spot_done(&request->target);
	if (request->socket >= 0)
		close(request->socket);
	request->socket = -1;
	sb_call_done(&request->call);
}

static struct sb_wire_request *kept;

struct sb_wire_request *sb_wire_request_new(void)
{
	struct sb_wire_request *request = __atomic_exchange_n(&kept, NULL, __ATOMIC_ACQ_REL);

	return request ? request : malloc(sizeof *request);
}

void sb_wire_request_free(struct sb_wire_request *request)
{
	if (request)
		free(__atomic_exchange_n(&kept, request, __ATOMIC_ACQ_REL));
}
