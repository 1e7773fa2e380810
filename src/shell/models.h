/*
 * models.h - what programs and the shell's own commands do with their words.
 *
 * A table: the options of a command, and what it does to its operands; where a row does not say enough, a
 * function does.  What is not in the table is unknown.  An option that is not in its row makes the command
 * unknown, too: what it does to files is possible then.
 */
#ifndef SB_SHELL_MODELS_H
#define SB_SHELL_MODELS_H

#include "shell/shell.h"

struct sb_given_option {
	struct sb_given_option *next;
	int letter;
	struct sb_field *value;
};

/* A command with its options apart from its operands. */
struct sb_command {
	struct sb_shell *shell;
	const struct sb_model *model;
	struct sb_field **operands;
	size_t count;
	struct sb_field *rest;       /* from the first operand on, for those that run it */
	bool has[128];               /* by letter */
	struct sb_field *value[128]; /* the last */
	struct sb_given_option *given, *last_given; /* all of them, in order */
	bool doubt;            /* something may be an option, or means nobody knows what */
	enum sb_ending ending; /* the row's, unless its function knows better */
};

enum {
	SB_MODEL_BUILTIN = 1, /* of the shell: no program */
	SB_MODEL_FIRST = 2,   /* options end at the first operand */
	SB_MODEL_LAX = 4,     /* an option that is not in the row changes no file */
	SB_MODEL_RAW = 8,     /* no options in the usual form: all words are operands */
};

struct sb_model {
	const char *name;
	/* As getopt has them: "ab:c::". */
	const char *letters;
	/* "name", "name:" with a value, "name?" with one behind "=" alone; "=c": what letter it means. */
	const char *words;
	enum sb_ending ending;
	unsigned char flags;
	/* What is done to each operand from this one on; or NULL acts and a function. */
	signed char act; /* enum sb_preview_act; -1: nothing */
	unsigned char from;
	void (*run)(struct sb_command *call);
};

/* NULL: not known. */
const struct sb_model *sb_models_find(const char *name);
/* For the test that it is in order. */
const struct sb_model *sb_models_row(size_t i);

extern const struct sb_field sb_field_here; /* "." */

/* --- command.c ----------------------------------------------------------------------------- */

/* Take the words behind the name apart; false: no memory. */
bool sb_command_read(struct sb_command *call, struct sb_field *fields);
/* The same as touch, with the doubts of the call. */
void sb_command_act(struct sb_command *call, enum sb_preview_act act, const struct sb_field *field,
		    enum sb_certainty at_best);
void sb_command_each(struct sb_command *call, enum sb_preview_act act, size_t from);
/* To the value of an option, if it has one. */
void sb_command_value(struct sb_command *call, enum sb_preview_act act, char letter);
/* The command with all of its words is unknown. */
void sb_command_unknown(struct sb_shell *shell, const struct sb_field *fields);
/* This one, from its first operand on. */
void sb_command_whole(struct sb_command *call, const char *name);
/* A list of the operands from one on, for a command in a command. */
struct sb_field *sb_command_list(struct sb_command *call, size_t from);

/* --- models_files.c ------------------------------------------------------------------------ */
void sb_model_copy(struct sb_command *call);
void sb_model_move(struct sb_command *call);
void sb_model_link(struct sb_command *call);
void sb_model_install(struct sb_command *call);
void sb_model_remove(struct sb_command *call);
void sb_model_mkdir(struct sb_command *call);
void sb_model_touch(struct sb_command *call);
void sb_model_mode(struct sb_command *call);
void sb_model_dd(struct sb_command *call);
void sb_model_mktemp(struct sb_command *call);

/* --- models_text.c --------------------------------------------------------------------------- */
void sb_model_tee(struct sb_command *call);
void sb_model_sort(struct sb_command *call);
void sb_model_uniq(struct sb_command *call);
void sb_model_grep(struct sb_command *call);
void sb_model_sed(struct sb_command *call);
void sb_model_awk(struct sb_command *call);
void sb_model_perl(struct sb_command *call);
void sb_model_split(struct sb_command *call);
void sb_model_patch(struct sb_command *call);

/* --- sed_script.c ------------------------------------------------------------------------------ */
/* Does a script of sed only print and change its input, for sure? */
bool sb_sed_is_plain(const char *script);

/* --- models_archive.c ------------------------------------------------------------------------ */
void sb_model_tar(struct sb_command *call);
void sb_model_unzip(struct sb_command *call);
void sb_model_zip(struct sb_command *call);
void sb_model_gzip(struct sb_command *call);
void sb_model_rsync(struct sb_command *call);

/* --- models_network.c ------------------------------------------------------------------------- */
void sb_model_curl(struct sb_command *call);
void sb_model_wget(struct sb_command *call);
void sb_model_git(struct sb_command *call);
void sb_model_online(struct sb_command *call);

/* --- models_wrap.c ---------------------------------------------------------------------------- */
void sb_model_wrap(struct sb_command *call);
void sb_model_env(struct sb_command *call);
void sb_model_sudo(struct sb_command *call);
void sb_model_nohup(struct sb_command *call);
void sb_model_xargs(struct sb_command *call);
void sb_model_find(struct sb_command *call);
void sb_model_shell(struct sb_command *call);
#define SB_DEPTH_MOST 24 /* of commands in commands */

/* Commands given as text, in this shell. */
enum sb_ending sb_text_run(struct sb_shell *shell, const struct sb_field *text);
void sb_model_eval(struct sb_command *call);
void sb_model_source(struct sb_command *call);
void sb_model_exec(struct sb_command *call);
void sb_model_command(struct sb_command *call);

/* --- traps.c ----------------------------------------------------------------------------------- */
void sb_model_trap(struct sb_command *call);

/* --- builtins.c -------------------------------------------------------------------------------- */
void sb_model_cd(struct sb_command *call);
void sb_model_declare(struct sb_command *call);
void sb_model_unset(struct sb_command *call);
void sb_model_set(struct sb_command *call);
void sb_model_shift(struct sb_command *call);
void sb_model_assigns(struct sb_command *call);
void sb_model_printf(struct sb_command *call);
void sb_model_break(struct sb_command *call);
void sb_model_leave(struct sb_command *call);
void sb_model_lose(struct sb_command *call);

#endif
