/*
 * git_config.h - git's config grammar, exactly as git reads it (config.c of git).
 *
 * One more reader of a grammar is one more chance to read it otherwise than git does, so
 * tests/fuzz/git_config.c compares it with the installed git.  What git refuses, we refuse.
 */
#ifndef SB_GUARD_GIT_CONFIG_H
#define SB_GUARD_GIT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct sb_git_entry {
	char *key;   /* "section.subsection.name": section and name in lower case */
	char *value; /* NULL: the key stands alone, which means true */
};

struct sb_git_config {
	struct sb_git_entry *entries;
	size_t count;
	bool failed; /* git would refuse the file; entries are those before */
	bool no_memory;
};

/* Bytes with a NUL are read like git reads them; whoever compares C strings looks first. */
void sb_git_config_parse(const char *bytes, size_t length, struct sb_git_config *out);
void sb_git_config_done(struct sb_git_config *config);

/* "": the key stands alone. */
const char *sb_git_entry_value(const struct sb_git_entry *entry);

/* The same as git takes it for yes or no: "true" if the key stands alone, where "" is no. */
const char *sb_git_entry_meaning(const struct sb_git_entry *entry);

/* For qsort() of pointers to entries: by key, then as they stand in the file. */
int sb_git_entry_order(const void *left, const void *right);

/* The last value of key; NULL: none, or it stands alone. */
const char *sb_git_config_get(const struct sb_git_config *config, const char *key);

/* Is it "section.SUBSECTION.name", with one of these names?  With a subsection or without. */
bool sb_git_key_is(const char *key, const char *section, const char *names);

#endif
