/*
 * process.h - what a process can take away from itself, and lookups that follow
 * no link.  Each returns >= 0 or a negative errno.
 */
#ifndef SB_SYS_PROCESS_H
#define SB_SYS_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sock_fprog;

/* O_PATH descriptor of an absolute path none of whose components is a link.  -ELOOP: one is. */
int sb_sys_open_path(const char *path);

/*
 * Is there something at this absolute path, and is no component of it a link?  False also
 * when that cannot be told in one call (before Linux 5.6, inside a filter).
 */
bool sb_sys_is_plain_path(const char *path);

/* Never gain privilege by execve again: prctl(2), PR_SET_NO_NEW_PRIVS. */
int sb_sys_no_new_privs(void);

/*
 * Give up every capability in every set, for good; sb_sys_keep_capabilities() ends those that
 * are kept for a while.  Where the bounding set may not
 * be lowered (no CAP_SETPCAP) there was nothing in the other sets to lose, and
 * no_new_privs keeps it so.
 */
int sb_sys_drop_capabilities(uint64_t but);

/* Bits of a set of capabilities: 1 << CAP_SYS_PTRACE. */
#define SB_CAPABILITY(number) (UINT64_C(1) << (number))

/*
 * Give up every capability but these, in this process: what a later execve gains is for
 * sb_sys_drop_capabilities().
 */
int sb_sys_keep_capabilities(uint64_t set);

/* Does the calling thread hold this capability now? */
bool sb_sys_has_capability(int capability);

/* Can this kernel load filters that answer with an errno? */
bool sb_sys_filter_available(void);

/* Load a seccomp filter for this thread (the process must have only one).  Needs no_new_privs. */
int sb_sys_load_filter(const struct sock_fprog *program);

/*
 * Kill every child until none is left, also those that a subreaper adopts on the way.  proc: a
 * directory descriptor of /proc.
 */
void sb_sys_end_children(int proc);

/*
 * Close these descriptors, negative ones aside, in the kernel's time and not in ours, where it can do that.  A mount namespace that
 * nobody needs any more is taken apart by who lets go of it last, who waits for a grace period of RCU, and is waited for.
 */
void sb_sys_close_later(const int *fds, size_t count);

/* A process as a descriptor; the calling one.  -ENOSYS before Linux 5.3 */
int sb_sys_open_process(pid_t process);
int sb_sys_open_self(void);

/* Signal it by that.  info may be NULL.  -ESRCH: it is gone, whoever has its number now. */
int sb_sys_signal_process(int process, int number, siginfo_t *info);

/*
 * One of its namespaces (CLONE_NEWUSER, NEWNS, NEWIPC or NEWNET), to come back to.  self: the above,
 * whatever it returned.
 */
int sb_sys_open_namespace(int self, int flag);

/* Bring up the loopback interface of this network namespace. */
int sb_sys_loopback_up(void);

/* As many descriptors as this process may ever have; where that fails, those it has. */
void sb_sys_raise_files(void);

/*
 * What a process was started with, as others read it: arguments, then variables.  /proc/PID/cmdline, which is
 * everybody's to read, and /proc/PID/environ are the memory of the process, between addresses that execve() has noted
 * (proc_pid_cmdline(5)); argv and environ point there.  A child by fork() shows what its parent does.
 */
struct sb_sys_arguments {
	char *bytes[2];
	size_t size[2];
};

/* This process's own.  proc: a descriptor of /proc.  -ENODATA: the kernel does not say where they are. */
int sb_sys_find_arguments(int proc, struct sb_sys_arguments *out);

/* Start a detached thread with a current directory and a umask of its own, and such a stack; false: there is none. */
bool sb_sys_start_own_thread(size_t stack, void *(*work)(void *), void *argument);

/* Write all of a text to a file that is there: settings of the kernel.  0 or a negative errno. */
int sb_sys_write_text(int directory, const char *path, const char *text);

/* An option of SOL_SOCKET that is a number; -1: there is none. */
int sb_sys_socket_option(int socket, int option);

#endif
