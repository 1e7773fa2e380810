/*
 * syntax.h - a command line of bash as a tree.
 *
 * The tree lies in the caller's arena and points into the text, which has to stay.  Nothing is expanded and
 * aliases are not known; what bash reads as a command is read, so that is more than POSIX and less than
 * zsh.  Extended patterns count as switched on.
 */
#ifndef SB_SHELL_SYNTAX_H
#define SB_SHELL_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shell/arena.h"

enum sb_part_kind {
	SB_PART_TEXT,      /* as it stands: patterns, braces and "~" mean something */
	SB_PART_QUOTED,    /* text that means itself */
	SB_PART_PARAMETER, /* $name, ${name...}: text is the name */
	SB_PART_COMMANDS,  /* $(...), `...` */
	SB_PART_ARITHMETIC,
	SB_PART_PROCESS, /* <(...), >(...) */
	SB_PART_PATTERN, /* @(...) and the like, with their sign in text */
};

/* What is done to a parameter's value; operators that are not listed are SB_VALUE_OTHER. */
enum sb_value_op {
	SB_VALUE_PLAIN,
	SB_VALUE_DEFAULT,     /* - */
	SB_VALUE_ASSIGN,      /* = */
	SB_VALUE_REQUIRE,     /* ? */
	SB_VALUE_ALTERNATIVE, /* + */
	SB_VALUE_CUT_START,   /* # */
	SB_VALUE_CUT_END,     /* % */
	SB_VALUE_OTHER,
};

struct sb_part {
	struct sb_part *next;
	const char *text;
	uint32_t length;
	unsigned char kind; /* enum sb_part_kind */
	unsigned char op;   /* enum sb_value_op */
	bool quoted;        /* its value is not split and no pattern */
	bool doubled;       /* ":-" for "-", "##" for "#" */
	union {
		struct sb_part *parts;    /* of an operator, an expression, a pattern */
		struct sb_node *commands; /* of a substitution */
	};
};

struct sb_word {
	struct sb_word *next;
	struct sb_part *parts;
	const char *text; /* as it was written */
	size_t length;
};

struct sb_assignment {
	struct sb_assignment *next;
	const char *name;
	uint32_t name_length;
	bool append, indexed, array;
	struct sb_word *value; /* of an array all of its words; NULL: empty */
	struct sb_word *index;
};

enum sb_redirect_op {
	SB_REDIRECT_READ,     /* < */
	SB_REDIRECT_WRITE,    /* > >| &> */
	SB_REDIRECT_APPEND,   /* >> &>> */
	SB_REDIRECT_BOTH,     /* <> */
	SB_REDIRECT_COPY_IN,  /* <& */
	SB_REDIRECT_COPY_OUT, /* >& */
	SB_REDIRECT_DOCUMENT, /* << <<- */
	SB_REDIRECT_STRING,   /* <<< */
};

struct sb_redirect {
	struct sb_redirect *next;
	enum sb_redirect_op op;
	bool strips;      /* <<- */
	bool quoted;      /* the document is as it stands */
	bool numbered;    /* a descriptor stood before it */
	const char *text; /* as it was written, without the document */
	size_t length;
	struct sb_word *target; /* of a document what ends it */
	struct sb_part *document;
	struct sb_redirect *waiting; /* the next whose document is still to come */
};

enum sb_node_kind {
	SB_NODE_SIMPLE,
	SB_NODE_GROUP,
	SB_NODE_SUBSHELL,
	SB_NODE_IF,    /* condition, body; other: else */
	SB_NODE_WHILE, /* and until: condition, body */
	SB_NODE_FOR,   /* and select: name, words, body; has_words: "in" was there */
	SB_NODE_FOR_ARITHMETIC,
	SB_NODE_CASE, /* words: the subject; body: one SB_NODE_ITEM each */
	SB_NODE_ITEM, /* words: patterns; body */
	SB_NODE_ARITHMETIC,
	SB_NODE_TEST, /* words: operators among them */
	SB_NODE_FUNCTION,
	SB_NODE_COPROCESS,
	SB_NODE_NOTHING, /* "!" or "time" alone */
};

enum sb_join { SB_JOIN_NEXT, SB_JOIN_AND, SB_JOIN_OR, SB_JOIN_PIPE };

/*
 * One command.  A list is flat: each says by join what stood before it, and a pipe binds closer than all
 * others.
 */
struct sb_node {
	struct sb_node *next;
	unsigned char kind; /* enum sb_node_kind */
	unsigned char join; /* enum sb_join */
	bool negated;
	bool background; /* the whole list of && and || that it is in */
	bool has_words;
	bool asks; /* select */
	bool until;
	const char *name; /* of a function, or what a loop sets */
	uint32_t name_length;
	struct sb_assignment *assignments;
	struct sb_word *words;
	struct sb_redirect *redirects;
	struct sb_node *condition, *body, *other;
	const char *text; /* as it was written */
	size_t length;
};

struct sb_syntax {
	struct sb_node *commands; /* what stood before the mistake, if there is one */
	const char *problem;      /* NULL: all of it was read */
	size_t line;              /* of the problem, from 1 */
	size_t simple;            /* how many simple commands */
	size_t nodes;             /* how many commands of all kinds */
};

#define SB_SYNTAX_DEPTH 200 /* of brackets in brackets: what people write, and little of a stack */

void sb_syntax_read(struct sb_arena *arena, const char *text, size_t length, struct sb_syntax *out);

#endif
