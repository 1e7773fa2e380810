/*
 * trace.h - SANDBASH_TRACE: a line for each held call, for people who look into sandbash itself.
 *
 *     # PROCESS CALL 'PATH' [-> 'TARGET'] = VERDICT, MICROSECONDS us
 *
 * PATH stands as the caller wrote it, in the asker's lines as it was resolved.  The verdict is what the caller was told: a result, an error, "goes
 * on" (the kernel carries it out) or "asks": then the asker, to whom it was passed on, has a line of its own.
 * Time counts from when the call was taken up by the process that writes the line.
 *
 * The asker and the performer write to one descriptor that appends; each line is one write.
 */
#ifndef SB_SUPERVISE_TRACE_H
#define SB_SUPERVISE_TRACE_H

#include "supervise/call.h"

/* From now on, in this process and those it makes.  -1: nothing is traced. */
void sb_trace_begin(int fd);
int sb_trace_fd(void);

struct seccomp_notif;
struct sb_wire_request;
/* A call is taken up; what it is about, once that is known; and it is passed on to the asker, who takes it. */
void sb_trace_held(const struct seccomp_notif *notification);
void sb_trace_call(const struct sb_call *call);
void sb_trace_passed_on(const struct sb_call *call);
void sb_trace_taken_on(const struct sb_wire_request *request);

#endif
