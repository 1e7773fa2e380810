#include "supervise/errands.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/approve.h"

#define MAX_ERRANDS 4096 /* the gate has half as many connections */

struct sb_errand {
	struct sb_errand *next;
	bool again; /* the second time that somebody is told */
	struct sb_gate_message message;
};

static bool is_started(struct sb_errands *errands)
{
	struct sb_error err;

	if (errands->dialer < 0 &&
	    sb_dialer_start(errands->approver->policy, errands->approver->variable,
			    &errands->dialer, &err) != SB_OK) {
		errands->dialer = -1;
		sb_approver_tell(errands->approver, &err);
	}
	return errands->dialer >= 0;
}

static void close_dialer(struct sb_errands *errands)
{
	sb_auto_close(&errands->dialer);
}

static void fail(struct sb_errands *errands, struct sb_errand *errand)
{
	errands->failed(errands->context, &errand->message);
	errands->count--;
	free(errand);
}

static void put_off(struct sb_errands *errands, struct sb_errand *errand)
{
	errand->next = NULL;
	*(errands->later ? errands->later_end : &errands->later) = errand;
	errands->later_end = &errand->next;
}

static void start_over(struct sb_errands *errands);

static void tell(struct sb_errands *errands, struct sb_errand *errand)
{
	int status = is_started(errands) ? sb_gate_send(errands->dialer, &errand->message, NULL, 0)
					 : -ENOMEM;

	if (status == -EAGAIN) {
		put_off(errands, errand);
		return;
	}
	if (status < 0 && status != -EPIPE) {
		fail(errands, errand);
		return;
	}
	errand->next = errands->first;
	errands->first = errand;
	if (status == -EPIPE) /* somebody has ended it, and we have not heard yet */
		start_over(errands);
}

/* There is room for one more with every answer. */
static void tell_next(struct sb_errands *errands)
{
	struct sb_errand *errand = errands->later;

	if (!errand)
		return;
	errands->later = errand->next;
	tell(errands, errand);
}

/* What the last dialer was told is told the next one. */
static void start_over(struct sb_errands *errands)
{
	struct sb_errand *errand = errands->first, *next;

	close_dialer(errands);
	errands->first = NULL;
	for (; errand; errand = next) {
		next = errand->next;
		if (errand->again) {
			fail(errands, errand);
			continue;
		}
		errand->again = true;
		tell(errands, errand);
	}
	if (!errands->first) /* no answer will come that makes room */
		tell_next(errands);
}

void sb_errands_send(struct sb_errands *errands, const struct sb_gate_message *message)
{
	struct sb_errand *errand = errands->count < MAX_ERRANDS ? malloc(sizeof *errand) : NULL;

	if (!errand) {
		errands->failed(errands->context, message);
		return;
	}
	*errand = (struct sb_errand){.message = *message};
	errands->count++;
	tell(errands, errand);
}

static bool take(struct sb_errands *errands, const struct sb_gate_message *answer)
{
	enum sb_gate_kind kind = answer->kind == SB_GATE_LOOKED ? SB_GATE_LOOK : SB_GATE_DIAL;

	for (struct sb_errand **link = &errands->first; *link; link = &(*link)->next) {
		struct sb_errand *errand = *link;

		if (errand->message.kind != kind || errand->message.id != answer->id)
			continue;
		*link = errand->next;
		errands->count--;
		free(errand);
		return true;
	}
	return false;
}

int sb_errands_hear(struct sb_errands *errands, struct sb_gate_message *out, int out_fds[2])
{
	int status = sb_gate_receive(errands->dialer, out, out_fds);

	if (status == -EBADMSG || status == -EAGAIN)
		return status;
	if (status < 0) {
		start_over(errands);
		return status;
	}
	tell_next(errands);
	if (take(errands, out))
		return 0;
	for (int i = 0; i < 2; i++) /* of one that was told another, too, and is answered */
		sb_auto_close(&out_fds[i]);
	return -ENOENT;
}

void sb_errands_done(struct sb_errands *errands)
{
	close_dialer(errands);
	for (int i = 0; i < 2; i++)
		for (struct sb_errand *errand = i ? errands->later : errands->first, *next; errand;
		     errand = next) {
			next = errand->next;
			free(errand);
		}
	errands->first = errands->later = NULL;
}
