/*
 * notify.h - system calls held by a seccomp filter, seen from the listener's side.
 *
 * Our own structures and constants: Debian 12's headers know neither WAIT_KILLABLE_RECV's
 * companions nor SYNC_WAKE_UP.  seccomp_unotify(2).  Each returns >= 0 or a negative errno.
 */
#ifndef SB_SYS_NOTIFY_H
#define SB_SYS_NOTIFY_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sock_fprog;

/* Load the filter and get its listener.  -EBUSY: an outer filter has a listener already. */
int sb_sys_load_held_filter(const struct sock_fprog *program);

/* Is a held call ended by any signal, not only by a fatal one (before Linux 5.19)? */
bool sb_sys_signals_end_held_calls(void);

/*
 * Could this process have a listener?  0, -EINVAL (before Linux 5.14), -EBUSY (somebody else
 * has one on it), or why not.  Changes nothing: tries in a child where it has to.
 */
int sb_sys_listener_probe(void);

/*
 * Wait for the next held call.  -ENOENT: its caller died first, ask again.  The wait ends
 * with -EINTR on a signal, and with -ENOENT or a hangup when nobody is left to be held.
 */
int sb_sys_notify_receive(int listener, struct seccomp_notif *out);

/* Is the call still waiting?  A thread id may have gone to a stranger otherwise. */
bool sb_sys_notify_alive(int listener, uint64_t id);

/* End it with an errno (positive), or with a value, or let the kernel carry it out. */
int sb_sys_notify_fail(int listener, uint64_t id, int error);
int sb_sys_notify_return(int listener, uint64_t id, long value);
int sb_sys_notify_continue(int listener, uint64_t id);

/*
 * End it with a copy of fd as the caller's lowest free descriptor.  -EMFILE and the like:
 * the call is still held and has to be answered.
 */
int sb_sys_notify_give(int listener, uint64_t id, int fd, bool close_on_exec);

/* As above, but the call stays held: it has to be answered with the number returned. */
int sb_sys_notify_place(int listener, uint64_t id, int fd, bool close_on_exec);

/* Put a copy of fd at number in the caller, in place of what is there; the call stays held. */
int sb_sys_notify_replace(int listener, uint64_t id, int fd, int number, bool close_on_exec);

/*
 * Who is told of each answer that has reached its caller: the result, or a negative errno; goes_on: the
 * kernel carries it out.  NULL: nobody.
 */
void sb_sys_notify_tell(void (*told)(uint64_t id, long value, bool goes_on));

/* Wake the other side on this processor (Linux 6.6); without it everything works, slower. */
void sb_sys_notify_sync(int listener, bool on);

/* The host's /proc, by which memory is read where process_vm_readv() is refused. */
void sb_sys_read_memory_by(int proc);

/* Copy length bytes out of another process.  Short only at an unmapped page.  -EACCES: not ours. */
ssize_t sb_sys_read_memory(pid_t thread, uint64_t address, void *out, size_t length);

/* The other way round, all of it: 0, -EFAULT, or another negative errno. */
int sb_sys_write_memory(pid_t thread, uint64_t address, const void *from, size_t length);

/*
 * Copy a NUL-terminated string of at most size bytes, NUL included.
 * -EFAULT: unmapped.  -ENAMETOOLONG: no NUL in it.
 */
int sb_sys_read_string(pid_t thread, uint64_t address, char *out, size_t size);

/* Is that call allowed at all? */
bool sb_sys_can_copy_descriptors(void);

/*
 * A copy of another thread's descriptor.  -EPERM in some containers; -EINVAL or -ENOENT before Linux
 * 6.9 where the thread is not the one that its process is named after.
 */
int sb_sys_take_descriptor(pid_t thread, int number);

#endif
