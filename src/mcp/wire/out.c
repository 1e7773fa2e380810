#include "mcp/wire/out.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "mcp/wire/dump.h"

#define MESSAGE_MAX (1024u * 1024 * 1024) /* results are cut long before */

struct piece {
	struct piece *next;
	size_t at, length; /* what is written already, and all of it */
	char *bytes;
};

struct sb_out {
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t more, empty;
	struct piece *first, **last;
	atomic_size_t waiting;
	bool writing; /* the thread is in write(2) */
	atomic_bool broken;
	bool has_thread;
};

static void free_piece(struct piece *piece)
{
	free(piece->bytes);
	free(piece);
}

struct sb_out *sb_out_new(int fd)
{
	struct sb_out *out = calloc(1, sizeof *out);

	if (!out)
		return NULL;
	out->fd = fd;
	out->last = &out->first;
	pthread_mutex_init(&out->lock, NULL);
	pthread_cond_init(&out->more, NULL);
	pthread_cond_init(&out->empty, NULL);
	return out;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t put = write(fd, bytes, length);

		if (put < 0 && errno == EAGAIN) { /* whoever gave it to us made it so */
			poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1);
			continue;
		}
		if (put < 0 && errno != EINTR)
			return false;
		if (put > 0) {
			bytes += put;
			length -= (size_t)put;
		}
	}
	return true;
}

static void *write_queued(void *context)
{
	struct sb_out *out = context;

	pthread_mutex_lock(&out->lock);
	for (;;) {
		struct piece *piece = out->first;
		bool fine;

		if (!piece) {
			pthread_cond_broadcast(&out->empty);
			pthread_cond_wait(&out->more, &out->lock);
			continue;
		}
		out->first = piece->next;
		if (!out->first)
			out->last = &out->first;
		out->writing = true;
		pthread_mutex_unlock(&out->lock);
		fine = out->broken ||
		       write_all(out->fd, piece->bytes + piece->at, piece->length - piece->at);
		pthread_mutex_lock(&out->lock);
		out->writing = false;
		out->waiting -= piece->length - piece->at;
		if (!fine)
			out->broken = true;
		free_piece(piece);
	}
	return NULL;
}

/*
 * As much as can be written without waiting: bytes, or a negative errno.  The descriptor is
 * shared with whoever started us, so it stays as it was made (O_NONBLOCK is of the file, not of
 * the descriptor): each write says for itself that it will not wait.  Pipes know that from
 * Linux 5.15 on or so (RWF_NOWAIT); before, one that poll(2) calls writable takes at least
 * PIPE_BUF bytes (pipe(7)).
 */
static ssize_t write_some(int fd, const char *bytes, size_t length)
{
	struct iovec all = {(char *)bytes, length};
	struct pollfd ready = {fd, POLLOUT, 0};
	ssize_t put = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (put < 0 && errno == ENOTSOCK)
		put = pwritev2(fd, &all, 1, -1, RWF_NOWAIT);
	if (put < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)) {
		if (length > PIPE_BUF || poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
			return 0;
		put = write(fd, bytes, length);
	}
	if (put < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return put;
}

/* Is it written?  A message that fits needs no other thread. */
static bool write_now(struct sb_out *out, struct piece *piece)
{
	ssize_t put = 1;

	if (out->first || out->writing)
		return false;
	while (piece->at < piece->length && put > 0) {
		put = write_some(out->fd, piece->bytes + piece->at, piece->length - piece->at);
		if (put > 0)
			piece->at += (size_t)put;
	}
	if (put < 0)
		out->broken = true;
	return put < 0 || piece->at == piece->length;
}

static void enqueue(struct sb_out *out, struct piece *piece)
{
	pthread_t thread;

	pthread_mutex_lock(&out->lock);
	if (out->broken || write_now(out, piece)) {
		free_piece(piece);
	} else {
		if (!out->has_thread && pthread_create(&thread, NULL, write_queued, out) == 0) {
			pthread_detach(thread);
			out->has_thread = true;
		}
		*out->last = piece;
		out->last = &piece->next;
		out->waiting += piece->length - piece->at;
		pthread_cond_signal(&out->more);
	}
	pthread_mutex_unlock(&out->lock);
}

void sb_out_send(struct sb_out *out, json_t *message)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(MESSAGE_MAX);
	struct piece *piece = NULL;

	if (message)
		sb_dump(message, &text);
	sb_buf_putc(&text, '\n');
	if (message && !sb_buf_failed(&text))
		piece = calloc(1, sizeof *piece);
	if (piece) {
		piece->length = text.length;
		piece->bytes = sb_buf_take(&text);
		enqueue(out, piece);
	}
	json_decref(message);
}

size_t sb_out_waiting(struct sb_out *out)
{
	return out->waiting;
}

bool sb_out_broken(struct sb_out *out)
{
	return out->broken;
}

void sb_out_flush(struct sb_out *out, int timeout_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (timeout_ms % 1000) * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&out->lock);
	while ((out->first || out->writing) && !out->broken &&
	       pthread_cond_timedwait(&out->empty, &out->lock, &until) == 0)
		;
	pthread_mutex_unlock(&out->lock);
}
