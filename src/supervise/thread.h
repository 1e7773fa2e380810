/*
 * thread.h - what /proc tells about a thread of the command.
 *
 * proc is the host's /proc (O_PATH).  A thread's number may be given to another one once it is
 * gone: whoever acts on an answer asks first whether the held call is still there (notify.h).
 */
#ifndef SB_SUPERVISE_THREAD_H
#define SB_SUPERVISE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A field of its status ("\nUmask:\t"), as a number in base; -1: it cannot be told. */
long sb_thread_field(int proc, pid_t thread, const char *field, int base);

/* The process that it belongs to; -1: it cannot be told. */
long sb_thread_process(int proc, pid_t thread);

/* Does it have the descriptor open otherwise than by O_PATH?  False also when that cannot be told. */
bool sb_thread_has_open(int proc, pid_t thread, int number);

/* Is it the only one of its process? */
bool sb_thread_is_alone(int proc, pid_t thread);

/* The process that a descriptor stands for; -1: one that is gone, 0: it stands for none. */
pid_t sb_thread_pidfd(int proc, pid_t thread, int number);

/* A copy of its descriptor: >= 0, or as sb_sys_take_descriptor(), but for any thread. */
int sb_thread_take_descriptor(int proc, pid_t thread, int number);

/* Does a signal wait for it that it neither blocks nor ignores? */
bool sb_thread_has_signal(int proc, pid_t thread);

/* Does one that ends it wait for it? */
bool sb_thread_is_ending(int proc, pid_t thread);

/* Has it no number left for a descriptor? */
bool sb_thread_is_table_full(int proc, pid_t thread);

/* When the process started, in ticks since boot; 0: it cannot be told. */
uint64_t sb_process_start(int proc, pid_t process);

/* The file it runs; "" when that cannot be told. */
void sb_process_program(int proc, pid_t process, char *out, size_t size);

#endif
