/*
 * arguments.h - what a process was started with, as others read it.
 *
 * /proc/PID/cmdline, which is everybody's to read, and /proc/PID/environ are the memory of the process, between
 * addresses that execve() has noted: proc_pid_cmdline(5).  A child by fork() shows what its parent does.
 */
#ifndef SB_SYS_ARGUMENTS_H
#define SB_SYS_ARGUMENTS_H

#include <stddef.h>

/* Arguments, then variables.  They are in use: argv and environ point there. */
struct sb_sys_arguments {
	char *bytes[2];
	size_t size[2];
};

/* This process's own.  proc: a descriptor of /proc.  -ENODATA: the kernel does not say where they are. */
int sb_sys_find_arguments(int proc, struct sb_sys_arguments *out);

#endif
