/*
 * proc_name.h - names in /proc, for the calls that every held one needs.
 *
 * Why not snprintf(): two of these names took a fifth of the time that the broker itself spends on
 * a small file (docs/performance.md).
 */
#ifndef SB_SUPERVISE_PROC_NAME_H
#define SB_SUPERVISE_PROC_NAME_H

#define SB_PROC_NAME 48 /* room for any of them */

/* "self/fd/NUMBER" */
const char *sb_proc_self_fd(char out[SB_PROC_NAME], int number);
/* "THREAD"; any number */
const char *sb_proc_thread(char out[SB_PROC_NAME], int thread);
/* "THREAD/cwd" */
const char *sb_proc_cwd(char out[SB_PROC_NAME], int thread);
/* "THREAD/fd/NUMBER" */
const char *sb_proc_fd(char out[SB_PROC_NAME], int thread, int number);

/* The number of "/proc/self/fd/NUMBER"; -1: it is another path. */
int sb_proc_named_fd(const char *path);

#endif
