/*
 * variables.h - which variables of the environment name something that matters to rules.
 *
 * Homes, credentials and sockets of services, wherever a variable puts them.  Nothing here reads
 * the environment itself: the program passes in how.
 */
#ifndef SB_CONFIG_VARIABLES_H
#define SB_CONFIG_VARIABLES_H

#include <stddef.h>

#include "config/place.h"
#include "policy/secrets.h"

/* The value of a variable, which stays as it is; NULL: not set. */
typedef const char *sb_variable(const char *name);

/*
 * What the environment says.  Its lists are static: those of the last call count, and none may
 * be under way in another thread.
 */
struct sb_environment sb_environment_of(sb_variable *variable);

/* A socket that a variable names, e.g. SSH_AUTH_SOCK; value may be NULL. */
struct sb_named_socket {
	const char *variable, *value;
};

/* All such variables, set or not; static, as above. */
const struct sb_named_socket *sb_named_sockets(sb_variable *variable, size_t *out_count);

/*
 * moved.c: directories that variables put elsewhere.  What the table of credentials has in the usual one is hidden
 * there (variables.c), and all of an agent's is obeyed outside (obeyed.c).
 */
struct sb_moved {
	char variable[24];
	enum sb_secret_base base;
	char usual[16]; /* relative to base */
	bool agent;     /* its own directory: called otherwise, all of it is obeyed */
	char beneath
		[12]; /* the directory's name in what the variable names; "": it is that itself */
};
const struct sb_moved *sb_moved_places(size_t *out_count);

/* obeyed.c: what programs outside run or obey because a variable of the environment names it. */
/* Files and directories, as they are written; NULL-terminated, and static: those of the last call count. */
const char *const *sb_obeyed_by(sb_variable *variable);

#endif
