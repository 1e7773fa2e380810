/*
 * typo.h - an option of ours with a slip of the finger in it.
 *
 * The first option that is not ours goes to the shell (S11).  So "--ntework=off" would start a
 * shell that complains of an option it does not know, or, with "--alow-write=DIR -c CMD", one
 * that does who knows what with it.  What is within two letters of one of our names, and is
 * nearer to it than to any name that a shell has, is said to be one.
 */
#ifndef SB_OPTIONS_TYPO_H
#define SB_OPTIONS_TYPO_H

#include "options/options.h"

/* Of these options the one that argument ("--ntework=off") is a slip of; NULL: none, or it is a shell's. */
const struct sb_option *sb_typo_of(const char *argument, const struct sb_option *options,
				   size_t count);

#endif
