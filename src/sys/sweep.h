/*
 * sweep.h - everything beneath a directory removed, whoever filled it.
 */
#ifndef SANDBASH_SYS_SWEEP_H
#define SANDBASH_SYS_SWEEP_H

/*
 * System calls alone, so also in a process that was made beside threads.  No link is followed, and no directory
 * left by ".." unless that leads to where it was entered from: who moves one meanwhile ends this.  0, or a
 * negative errno: something is left.
 */
int sb_sys_sweep(int directory);

#endif
