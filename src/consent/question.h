/*
 * question.h - what a person is asked, and what they can answer.
 *
 * A question is about one held system call.  Every byte in path, target, program and
 * content came from inside the sandbox or from a file it controls: whoever shows it
 * escapes it (base/escape.h).
 */
#ifndef SB_CONSENT_QUESTION_H
#define SB_CONSENT_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbash/policy.h"

struct sb_buf;

enum sb_answer {
	SB_ANSWER_NONE,      /* none yet */
	SB_ANSWER_ONCE,      /* 1: this process, this file, until the process exits */
	SB_ANSWER_DIRECTORY, /* 2: everything in this directory, for the session */
	SB_ANSWER_DENY,      /* 3: no; lasts the session */
	SB_ANSWER_ALWAYS,    /* 4: written to the per-directory config */
};

/* What kind of thing it is about: a yes means more for some than for others. */
enum sb_about {
	SB_ABOUT_FILE,
	SB_ABOUT_RUN_LATER, /* a guarded name: a program outside obeys it */
	SB_ABOUT_SERVICE,   /* a socket, with somebody behind it */
	SB_ABOUT_AHEAD,     /* nothing is done yet: what a later call, or a command, may do */
	SB_ABOUT_PROJECT,   /* the same of a whole directory, and "once" lasts the session */
	SB_ABOUT_HOST,      /* path is a host with its port, directory what 2 and 4 open: hosts.h */
	SB_ABOUT_REPO,      /* an act on a repository, once: path is a directory or a URL */
	SB_ABOUT_UNSANDBOXED, /* a command without a sandbox, once: path is where it runs */
	SB_ABOUT_COUNT,
};

/* What would stand at the name; of a removal or a change of modes, what stands there. */
enum sb_thing {
	SB_THING_FILE,
	SB_THING_DIRECTORY,
	SB_THING_LINK, /* symbolic */
	SB_THING_NODE, /* a FIFO, a socket, a device */
	SB_THING_NAME, /* a second name of a file: either end of link() */
	SB_THING_COUNT,
};

/* A worker's file says of writing and of deleting apart what may be done, so they are answered apart. */
enum {
	SB_OPENS_WRITING = 1u << 0,
	SB_OPENS_DELETING = 1u << 1,
	SB_OPENS_ALL = SB_OPENS_WRITING | SB_OPENS_DELETING,
};

static inline unsigned sb_opens_of(enum sb_op op)
{
	return op == SB_READ ? 0 : op == SB_DELETE ? SB_OPENS_DELETING : SB_OPENS_WRITING;
}

/* One for each fact that there can be about one call: supervise/remarks.h counts them. */
#define SB_QUESTION_NOTES 37
#define SB_QUESTION_TEXTS (7 + SB_QUESTION_NOTES)

struct sb_question {
	unsigned long id; /* ours, never 0, unique in the run */
	enum sb_op op;    /* the strictest of what it does */
	pid_t process;    /* that asks, as seen outside */
	bool worker;      /* of a worker: its file says what is always */
	bool lasting;     /* "once" is for its whole run */
	unsigned opens;   /* SB_OPENS_*: of a worker, what answer 2 is about; 0: everything */
	enum sb_about about;
	enum sb_thing thing; /* SB_THING_NAME also where it is about modes */
	union {
		struct {
			const char
				*verb; /* in words: "create", "write to", "delete", "connect to" */
			const char *path; /* canonical */
			const char
				*target; /* where it is renamed or linked to; NULL: one path only */
			const char
				*directory; /* what answers 2 and 4 would open; NULL: not offered */
			const char *program; /* name of the program that asks */
			const char *
				rule; /* origin of the rule that stopped it; NULL: none covers it */
			const char
				*project; /* the directory that the run was started in; or NULL */
			/*
			 * What the paths do not tell, one line each: where a link leads, what is
			 * replaced, who obeys the name, what a yes covers besides.  Whoever shows the
			 * question shows all of them.
			 */
			const char *notes[SB_QUESTION_NOTES]; /* NULL: no more */
		};
		const char *texts[SB_QUESTION_TEXTS]; /* all of these */
	};
	const char *content; /* bytes that would land there, where that matters; or NULL */
	size_t content_length;
};

/* "read", "write to", "create", "delete": of an operation whose act says no more. */
const char *sb_question_verb(enum sb_op op);

/* SB_OP_COUNT: there is none of that name (sb_op_name()), or there is no name. */
enum sb_op sb_op_named(const char *name);

/* Are these offered: answer 2, and answer 4? */
static inline bool sb_question_offers_always(const struct sb_question *question)
{
	return question->directory && !question->worker;
}

/* What answer 2 covers in its directory: "everything", "all writing", "all deleting", "all writing and deleting". */
const char *sb_question_covers(const struct sb_question *question);

/* "once", "directory", "deny", "always"; "none" */
const char *sb_answer_name(enum sb_answer answer);

/* " wants to VERB PATH -> TARGET", every byte escaped: the sentence wherever a question is told in one. */
void sb_question_wants(const struct sb_question *question, struct sb_buf *out);

/* A copy whose texts and content lie in one piece of so many bytes. */
size_t sb_question_size(const struct sb_question *question);
void sb_question_copy(const struct sb_question *question, char *texts, struct sb_question *out);

/* What a yes would do beside letting the call go on, in one line. */
const char *sb_question_means(const struct sb_question *question);

#endif
