/*
 * repository.h - where a checkout keeps its git data.
 */
#ifndef SB_GUARD_REPOSITORY_H
#define SB_GUARD_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>

struct sb_repository {
	char *own;      /* canonical: HEAD and index of this checkout */
	char *common;   /* canonical: objects, refs, hooks, config; often the same */
	bool is_file;   /* .git is a file that leads there */
	bool is_linked; /* own has a commondir: a linked worktree */
	/* What common will be called: its config leads from there.  Not owned; NULL: as it is. */
	const char *becomes;
};

/* False: top (canonical) is no checkout, or its .git leads nowhere. */
bool sb_repository_find(const char *top, struct sb_repository *out);

/* The same of the git directory at own (canonical) that a .git file names.  False: it is none. */
bool sb_repository_at(const char *own, struct sb_repository *out);
void sb_repository_done(struct sb_repository *repository);

/* What the git directory of a project said when the guard was made. */
struct sb_shown {
	char *top, *config;
	/* config, config.worktree, info/exclude, info/attributes, shallow; malloc'ed, NULL: none */
	char *text[5];
	size_t length[5];
};

/* common, own: of sb_repository.  What cannot be read is not there. */
void sb_shown_take(struct sb_shown *shown, const char *top, const char *common, const char *own);
void sb_shown_done(struct sb_shown *shown);

#endif
