/*
 * sandbox.h - sandbash's rules in another program: ask them, confine a process, open file tools.
 *
 *     sb_sandbox_open() --> sb_sandbox_policy() --> sb_decide()
 *                       --> sb_sandbox_enter()  --> execve()
 *                       --> sb_sandbox_files()  --> sb_files_read() ...
 *
 * A sandbox is what `sandbash` would make of this machine, this user and these options: the built-in
 * rules, those of /etc/sandbash and of the user's configuration, then the rules given here.  Each
 * of the three ways stands alone; what they need is made when it is called.
 *
 * The environment of the program counts as that of `sandbash` would (HOME, XDG_CONFIG_HOME, ...).
 * Not for several threads at once.
 */
#ifndef SANDBASH_SANDBOX_H
#define SANDBASH_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"
#include "sandbash/files.h"
#include "sandbash/policy.h"

struct sb_sandbox;

struct sb_sandbox_options {
	size_t size;                 /* sizeof this struct */
	const char *const *projects; /* beside the current directory; NULL-terminated, or NULL */
	const char *const
		*rules; /* "write /srv/data", "deny secrets": lines as in a rule file; or NULL */
	bool read_only; /* the project, too */
	bool network_off;
	bool anywhere;    /* the current directory may lie outside the home directory */
	bool best_effort; /* enter: also where a promise is not held; warn is told which */
	/* What a person should know; one line, safe to print.  Or NULL. */
	void (*warn)(void *context, const char *line);
	void *context;
};

/* options may be NULL and must outlive the sandbox.  The current directory is its project. */
int sb_sandbox_open(const struct sb_sandbox_options *options, struct sb_sandbox **out,
		    struct sb_error *err);
void sb_sandbox_close(struct sb_sandbox *sandbox); /* NULL is fine */

/*
 * The rules, sealed, to be asked with sb_decide(); the sandbox's own.  NULL: err says why.  Names that
 * a program outside would run later are rules here; a run and the file tools look at contents, too.
 */
const struct sb_policy *sb_sandbox_policy(struct sb_sandbox *sandbox, struct sb_error *err);

/*
 * Put this process and all it will start under the rules, as `sandbash --static` does: nobody is
 * asked, what would be a question is refused.  Descriptors above 2 are closed.  It cannot be undone;
 * after an error nothing may be run: exit.  SB_E_REFUSED: there are other threads, which would
 * stay outside.  SB_E_UNSUPPORTED: a promise is not held here, of the machine's or of the user's settings
 * (protect-ignored, clean-env).
 */
int sb_sandbox_enter(struct sb_sandbox *sandbox, struct sb_error *err);

/*
 * File tools that see the current directory and options->projects.  files: as in sb_files_open(), or
 * NULL; what it leaves open is filled in.  The view is closed before the sandbox.
 */
int sb_sandbox_files(struct sb_sandbox *sandbox, const struct sb_files_options *files,
		     struct sb_files **out_view, struct sb_error *err);

#endif
