/*
 * names.h - well-known sockets in words, for questions.
 *
 * "connect to '/run/user/1000/bus'" tells few people that a yes lets the command start
 * anything outside.  Words only: nothing is decided here.
 */
#ifndef SB_CONSENT_NAMES_H
#define SB_CONSENT_NAMES_H

#include <stddef.h>

#include "config/variables.h"

/*
 * What is at this path (canonical), and what a yes would mean: "the Docker socket: whoever
 * reaches it is root on this machine".  Static text, or NULL for a path nobody knows.
 */
const char *sb_socket_in_words(const char *path, const struct sb_named_socket *named, size_t count);

#endif
