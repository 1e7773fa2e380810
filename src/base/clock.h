/*
 * clock.h - time that only goes on (CLOCK_MONOTONIC): mostly no system call.
 */
#ifndef SB_BASE_CLOCK_H
#define SB_BASE_CLOCK_H

#include <stdint.h>

uint64_t sb_now_ns(void);
int64_t sb_now_ms(void);

#endif
