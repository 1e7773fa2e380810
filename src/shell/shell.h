/*
 * shell.h - a shell that only thinks: what it knows while it walks over commands.
 *
 * Values are known, a pattern ("any file like this") or unknown.  Variables are a list, the newest first, so
 * that a subshell is left by putting the head back.  Where a command may or may not run, what it would
 * do is possible, and what it would set is unknown afterwards.
 */
#ifndef SB_SHELL_SHELL_H
#define SB_SHELL_SHELL_H

#include "shell/outlook.h"
#include "shell/syntax.h"

enum sb_knowledge {
	SB_KNOWN,
	SB_PATTERN_KNOWN, /* wildcards, with a backslash before what is none */
	SB_NOT_KNOWN,
	SB_UNSET, /* of variables alone */
};

/* One word of a command after all expansions. */
struct sb_field {
	struct sb_field *next;
	const char *text;
	enum sb_knowledge known;
	bool leads;                 /* what is not known stands at the beginning */
	bool many;                  /* and may be any number of words */
	const struct sb_word *word; /* where it comes from; NULL: nowhere in particular */
};

struct sb_binding {
	struct sb_binding *next;
	const char *name;
	uint32_t name_length;
	enum sb_knowledge known;
	bool local;
	bool is_function;
	bool altered;               /* what is assigned is not what it has: declare -i, -u, -l */
	const char *text;           /* of a variable */
	const struct sb_node *body; /* of a function; NULL: not known */
};

/* How a command ends. */
enum sb_ending {
	SB_ENDS_TRUE,  /* always */
	SB_ENDS_WELL,  /* unless something is wrong */
	SB_ENDS_OPEN,  /* it answers a question, or nobody knows */
	SB_ENDS_FALSE, /* always */
};

/* What a command left for good; up to SB_LEFT_FUNCTION so many loops. */
enum { SB_LEFT_NOTHING, SB_LEFT_LOOP, SB_LEFT_FUNCTION = 1 << 16, SB_LEFT_SHELL };

/* What a subshell puts back. */
struct sb_shell_state {
	struct sb_binding *bindings;
	const char *directory; /* NULL: not known */
	const char *stayed;    /* where it is instead if a cd failed; NULL: nowhere */
	bool strays;           /* or anywhere, if more than one did */
	bool physical;         /* no component of it can be a link */
	const char *before;    /* what "cd -" goes to; NULL: not known */
	struct sb_field *arguments;
	bool arguments_known;
	bool maybe;            /* what comes may not happen */
	bool strict;           /* set -e */
	bool lost;             /* anything may have been defined */
	bool separators;       /* IFS is not as it was */
	bool in_function;      /* what "return" leaves; else it fails */
	unsigned in_loop;      /* so many are around, for "break" */
	unsigned left, doubt;  /* SB_LEFT_: for good; or perhaps */
	struct sb_trap *traps; /* of this shell */
};

struct sb_shell {
	struct sb_arena *arena;
	struct sb_outlook *outlook;
	struct sb_shell_state state;
	const char *home;
	const char *const *environment;
	const char *name;  /* of the command that is looked at, for the words responsible */
	bool no_functions; /* the next call is of a program: for who runs one */
	bool alters;       /* some binding is altered */
	bool silent;       /* nothing is reported: only what is set counts */
	unsigned depth;    /* of functions, scripts in scripts, wrappers */
	size_t steps;      /* that may still be made */
	/* Pointers, since words hold commands and commands run commands. */
	enum sb_ending (*run)(struct sb_shell *shell, const struct sb_node *list);
	enum sb_ending (*call)(struct sb_shell *shell, struct sb_field *fields);
};

/* --- variables.c ----------------------------------------------------------------------- */

/* The value of a variable or a special parameter; of "@" and "*" nothing is known. */
enum sb_knowledge sb_variable_get(const struct sb_shell *shell, const char *name, size_t length,
				  const char **out_text);
void sb_variable_set(struct sb_shell *shell, const char *name, size_t length,
		     enum sb_knowledge known, const char *text);
/* From here on nobody knows what an assignment makes of it. */
void sb_variable_alter(struct sb_shell *shell, const char *name, size_t length);
/* Was it set to something in the text? */
bool sb_variable_given(const struct sb_shell *shell, const char *name);
struct sb_binding *sb_function_get(const struct sb_shell *shell, const char *name);
void sb_function_set(struct sb_shell *shell, const char *name, size_t length,
		     const struct sb_node *body);
/* Something ran that may have set anything. */
void sb_shell_lose(struct sb_shell *shell);
/* What was set since before may have been set or not. */
void sb_shell_doubt(struct sb_shell *shell, const struct sb_shell_state *before);

/* --- traps.c ------------------------------------------------------------------------------- */

/* At "exit": what EXIT runs, with what is known there. */
void sb_traps_leave(struct sb_shell *shell);
/* The end of a shell, before its state is put back. */
void sb_traps_end(struct sb_shell *shell);

/* --- match.c ----------------------------------------------------------------------------- */

/* text without what pattern matches at an end; NULL: nobody knows. */
const char *sb_cut(struct sb_arena *arena, const char *text, const struct sb_field *pattern,
		   bool at_end, bool longest);

/* --- words.c ----------------------------------------------------------------------------- */

/* All words, split and with their patterns. */
struct sb_field *sb_words_expand(struct sb_shell *shell, const struct sb_word *words);
/* One word as one field, as an assignment has it; patterns stay text unless asked for. */
struct sb_field *sb_word_expand(struct sb_shell *shell, const struct sb_word *word, bool patterns);
/* What runs or is set inside, without a value. */
void sb_word_inside(struct sb_shell *shell, const struct sb_part *parts);
/* What an expression may set. */
void sb_expression(struct sb_shell *shell, const struct sb_word *word);

/* --- touch.c ------------------------------------------------------------------------------ */

struct sb_field *sb_field_new(struct sb_shell *shell, enum sb_knowledge known, const char *text,
			      size_t length);
bool sb_field_is(const struct sb_field *field, const char *text);
bool sb_field_is_one(const struct sb_field *field, const char *words); /* base/words.h */
/* dir + "/" + the last component of name; all else is dir's. */
struct sb_field *sb_field_into(struct sb_shell *shell, const struct sb_field *dir,
			       const struct sb_field *name);
/* Everything beneath. */
struct sb_field *sb_field_beneath(struct sb_shell *shell, const struct sb_field *dir);
/* text behind it, or what is there in place of its end. */
struct sb_field *sb_field_with(struct sb_shell *shell, const struct sb_field *field,
			       const char *text);
/* A pattern behind it. */
struct sb_field *sb_field_like(struct sb_shell *shell, const struct sb_field *field,
			       const char *pattern);
/* A file of the home directory, with its slash; unknown where that is. */
struct sb_field *sb_field_in_home(struct sb_shell *shell, const char *name);
/* The absolute path; NULL: not known.  *out_sure: no link can make it another. */
const char *sb_path_of(struct sb_shell *shell, const char *text, bool *out_sure);

/* Into the directory of a word; that works, or what follows is not reached. */
void sb_directory_enter(struct sb_shell *shell, const struct sb_field *field);
/* It may have failed, and what follows is reached. */
void sb_directory_doubt(struct sb_shell *shell, const char *before);

void sb_file_touch(struct sb_shell *shell, enum sb_preview_act act, const struct sb_field *field,
		   enum sb_certainty at_best);
void sb_unknown(struct sb_shell *shell, const char *text, size_t length);
void sb_unknown_word(struct sb_shell *shell, const struct sb_field *field);
void sb_network(struct sb_shell *shell, enum sb_preview_network network);

/* walk.c: commands, one after the other, as the shell that only thinks would run them. */
/* All of a list; how its last command ends.  For shell->run. */
enum sb_ending sb_commands_walk(struct sb_shell *shell, const struct sb_node *list);

/* simple_walk.c: one simple command: what it sets, where its redirections lead, what it calls. */

void sb_walk_redirects(struct sb_shell *shell, const struct sb_redirect *redirects);
enum sb_ending sb_walk_simple(struct sb_shell *shell, const struct sb_node *node);

/* A command by its fields, the first of which names it.  For shell->call. */
enum sb_ending sb_walk_call(struct sb_shell *shell, struct sb_field *fields);

#endif
