/*
 * profile.h - rules that come with a program: what an agent needs to work, found by its name.
 *
 *     sb_profile_choose() -> sb_load_profiles() between the system's file and the global one
 *                         -> sb_profile_make() before the run
 *
 * Most come with sandbash, compiled in, so that the program alone has them; the user's own lie in
 * $XDG_CONFIG_HOME/sandbash/profiles and go before.  A project brings none, and a program that
 * commands could have written gets none by its name.
 */
#ifndef SB_CONFIG_PROFILE_H
#define SB_CONFIG_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

struct sb_home;
struct sb_line;
struct sb_maker;
struct sb_setup;
struct sb_rule_source;

/* One that comes with sandbash.  Without pointers, for the reason in guard/guard.h. */
struct sb_shipped_profile {
	char name[24];
	char programs[104];      /* names that it is for, with blanks between them */
	char project_files[104]; /* the same of files that make it count in a project: tools.c */
	unsigned start, length;  /* in sb_shipped_text */
};

extern const struct sb_shipped_profile sb_shipped_profiles[]; /* sorted by name */
extern const size_t sb_shipped_profile_count;
extern const char sb_shipped_text[];

#define SB_NO_PROFILE "none" /* as a name: none at all */

/* A warning: its name, the program, its name. */
#define SB_PROFILE_PLANTED                                                                         \
	"the profile '%s' is not used: a command could have written '%s'; --profile=%s uses it"

/* The chosen one, and what it says beside its rules.  Lists are NULL-terminated, or NULL. */
struct sb_profile {
	char *name;    /* NULL: none */
	char *file;    /* the user's own; NULL: it comes with sandbash */
	bool by_name;  /* of the program; false: somebody has asked for it */
	bool fits;     /* the command is one of its programs */
	bool tool;     /* a project chooses it by its files: tools.c */
	char *program; /* canonical, if by_name */
	char **environment, **arguments, **says;
	char **directories; /* that are made before the run; canonical */
	size_t environment_count, argument_count, say_count, directory_count;
	char **tools;      /* more that the project has: names, ... */
	char **tool_files; /* ... and for each the user's file, or "" */
	size_t tool_count, tool_file_count;
	char *cache; /* the project's own directory for caches, canonical; NULL: nobody needs it */
	bool no_cache;
	bool fast_cache; /* nothing is guarded in it */
	char **replaced; /* what commands would use; absolute, pairs with ... */
	char **caches;   /* ... the variable that replaces it */
	size_t replaced_count, cache_count;
};

/* Which one it is, by the request.  SB_E_MISSING: there is none of that name. */
int sb_profile_choose(struct sb_maker *maker, struct sb_error *err);

/* One that comes with sandbash, by its name; or NULL. */
const struct sb_shipped_profile *sb_profile_shipped(const char *name);

int sb_profile_no_such(const char *name, struct sb_error *err); /* SB_E_MISSING */

/* A project must not bring its own rules, neither by a link: does this file lie in one? */
bool sb_profile_is_in_project(const struct sb_maker *maker, const char *file);

/* Does what its lines "project-file" name fit?  file: the user's own, or NULL. */
bool sb_profile_counts(struct sb_maker *maker, const char *name, const char *file,
		       bool (*fits)(struct sb_maker *maker, const char *words));

/* Call found for each of the user's own, in the order of their names. */
int sb_profile_users(const struct sb_home *home,
		     int (*found)(void *context, const char *name, const char *file,
				  struct sb_error *err),
		     void *context, struct sb_error *err);

/* Would a variable that names this directory mean more than its own? */
bool sb_profile_is_broad(const struct sb_maker *maker, const char *usual, const char *path);

/* Is a directory called like the own one of an agent that has a variable for it: ".codex-work"? */
bool sb_profile_is_agents(const char *name, size_t length);

/* A line that only a profile has. */
int sb_profile_take(struct sb_maker *maker, const struct sb_rule_source *source,
		    const struct sb_line *line, struct sb_error *err);

/*
 * A path that begins with "$NAME", a variable of a short list: *out is the path without it, or NULL
 * if the line does not count here.
 */
int sb_profile_expand(struct sb_maker *maker, const char *text, char **out, struct sb_error *err);

/*
 * SECURITY: a program that a command could have written has no profile by its name.
 *
 * Danger: "claude" in the project, or in a directory that a rule opens, would write to the agent's
 * state and read its login.
 * Price: who keeps his agent in such a place says --profile.
 * Held by: tests/cli/profiles.py
 */
bool sb_profile_is_planted(const struct sb_setup *setup);

/* Make the directories that its lines name with a "/" at the end, where they are missing. */
int sb_profile_make(const struct sb_setup *setup, struct sb_error *err);

/* The same of one; path is canonical.  What cannot be made is no error. */
int sb_profile_make_directory(const char *path, struct sb_error *err);

void sb_profile_done(struct sb_profile *profile);

struct sb_secret;

/* Call found for each credential of a program that is there: policy/secrets.h. */
int sb_login_paths(const struct sb_home *home, const char *program,
		   int (*found)(void *context, const struct sb_secret *secret, const char *path,
				struct sb_error *err),
		   void *context, struct sb_error *err);

/* Rules of a profile that let the agent's logins be read, where they are. */
int sb_login_open(struct sb_maker *maker, const struct sb_rule_source *source, const char *agent,
		  struct sb_error *err);

/* The text of one, malloc'ed, and the user's file it is from (or NULL).  SB_E_MISSING. */
int sb_profile_text(const struct sb_home *home, const char *name, char **out_text, char **out_file,
		    struct sb_error *err);

/* Names of all that there are, sorted, each once; NULL-terminated. */
int sb_profile_names(const struct sb_home *home, char ***out, struct sb_error *err);

#endif
