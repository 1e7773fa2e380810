/*
 * storm.h - many requests at once, and requests at bad moments.
 *
 *     storm.c         crowds: processes and threads that share a directory; rounds on request
 *     storm_places.c  places: the current directory changes while calls are made
 *     storm_moments.c moments: signals, death, exec, a path that changes while it is read
 *
 * Each storm checks itself what it did.  Exit 0: all was as it must be; 1: the first thing
 * that was not is on stderr.
 */
#ifndef STORM_H
#define STORM_H

#include <stdbool.h>

/* Say what is wrong, with errno where it counts, and exit 1. */
_Noreturn void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A file with this content; false: errno says why. */
bool put_file(const char *path, int flags, const char *text);
/* Its content, cut to size; the length, or -1. */
long get_file(const char *path, char *data, unsigned long size);

/* For calls that may fail or not: who loses a race says nothing. */
void attempt(int result);
long now_ms(void);

int storm_signals(char **argv);
int storm_killed(char **argv);
int storm_spawn(char **argv);
int storm_handed(char **argv);
int storm_siblings(char **argv);
int storm_quiet(char **argv);
int storm_flip(char **argv);
int storm_chdir(char **argv);
int storm_elsewhere(char **argv);

#endif
