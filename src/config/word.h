/*
 * word.h - two words that the user and sandbash know, and no command.
 *
 * A command can draw anything on its terminal, a question of ours too.  It cannot show these words: they are made
 * once per user, in a file of sandbash's own that is hidden from every run (config/setup.h: before its rules are).
 */
#ifndef SB_CONFIG_WORD_H
#define SB_CONFIG_WORD_H

#include <stdbool.h>

struct sb_home;

/* malloc'ed; NULL: there are none. */
char *sb_word(const struct sb_home *home);

/* Sees to it that there are some, if there can be. */
void sb_word_make(const struct sb_home *home);

/* Has the terminal colours for the question that shows them, and does the user want them ($TERM, $NO_COLOR)? */
bool sb_has_colours(void);

#endif
