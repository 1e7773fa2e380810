/*
 * preview.h - what a shell command would do to files, by its text alone.
 *
 *     struct sb_preview_options options = {.size = sizeof options, .directory = "/home/u/project"};
 *     struct sb_preview *preview;
 *
 *     if (sb_preview("cp a b/ && make", 15, &options, &preview, &err) == SB_OK)
 *             ... preview->files ...
 *     sb_preview_free(preview);
 *
 * Nothing is run and no file is read, so a preview knows what is written, not what is there.  What it does
 * not know it says to be unknown; nothing that a command may do is left out in silence.  It is for
 * people and questions; what a run may do never rests on it.
 *
 * A preview owns all that it points at, and never changes.
 */
#ifndef SANDBASH_PREVIEW_H
#define SANDBASH_PREVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

enum sb_preview_act {
	SB_PREVIEW_READ,
	SB_PREVIEW_CREATE, /* made, or written anew where it is there */
	SB_PREVIEW_MODIFY, /* what it holds, or its mode, owner, times; ">>" also makes it */
	SB_PREVIEW_DELETE,
	SB_PREVIEW_MOVE, /* away from here; where it goes is a create */
};

enum sb_certainty {
	SB_CERTAIN,  /* done when the command runs and no step of it fails */
	SB_POSSIBLE, /* by a condition, a pattern, what is there, what a program holds */
	SB_UNKNOWN,  /* a file is touched in this way, and which one is not known */
};

enum sb_preview_network {
	SB_PREVIEW_OFFLINE,
	SB_PREVIEW_NETWORK_POSSIBLE,
	SB_PREVIEW_ONLINE,
	SB_PREVIEW_NETWORK_UNKNOWN,
};

struct sb_preview_file {
	/*
	 * Absolute where the directory is known.  A pattern has wildcards, a backslash before
	 * what is none, and "**" for any number of directories.  Unknown: as it was written.
	 */
	const char *path;
	enum sb_preview_act act;
	enum sb_certainty certainty;
	bool pattern;
	const char *by; /* the words responsible: "> out", "rm *.o" */
};

struct sb_preview {
	const struct sb_preview_file *files;
	size_t file_count;
	const char *const *programs; /* each once, as it was called */
	size_t program_count;
	const char *const *unknown; /* words whose effect is not known */
	size_t unknown_count;
	enum sb_preview_network network;
	const char *
		problem; /* NULL, or why the command could not be read: then all of it is unknown */
	size_t problem_line;
};

struct sb_preview_options {
	size_t size;
	const char *directory;          /* where it would run, canonical; NULL: not known */
	const char *home;               /* what "~" is; NULL: not known */
	const char *const *environment; /* NAME=value, NULL-terminated; NULL: not known */
	const char *const *arguments;   /* $0, $1, ... NULL-terminated; NULL: not known */
};

/* SB_E_NOMEM is the only error: a command that cannot be read gives a preview that says so. */
int sb_preview(const char *command, size_t length, const struct sb_preview_options *options,
	       struct sb_preview **out, struct sb_error *err);
void sb_preview_free(struct sb_preview *preview); /* NULL is fine */

const char *sb_preview_act_name(enum sb_preview_act act);             /* "read", "create", ... */
const char *sb_certainty_name(enum sb_certainty certainty);           /* "certain", ... */
const char *sb_preview_network_name(enum sb_preview_network network); /* "no", "possible", ... */

#endif
