/*
 * own_thread.h - a thread with a current directory and a umask of its own.
 */
#ifndef SB_SYS_OWN_THREAD_H
#define SB_SYS_OWN_THREAD_H

#include <stdbool.h>
#include <stddef.h>

/* Start a detached thread with such a stack; false: there is none, and work is not called. */
bool sb_sys_start_own_thread(size_t stack, void *(*work)(void *), void *argument);

#endif
