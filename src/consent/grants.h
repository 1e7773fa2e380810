/*
 * grants.h - the session's answers, looked up by file and not by spelling.
 *
 *     new -> find / remember ... -> free
 *
 * "Once" covers one process (of a worker's directories: all of the run) and one file, with the names under which programs save it (backup,
 * swap, temporary file renamed onto it: save_names.h), until the process exits.  "Directory"
 * covers everything beneath a directory, "deny" a file, or a directory with everything in it;
 * both last the session.  A directory is known by (device, inode), pinned with an O_PATH
 * descriptor so that the number cannot be given to another, and found on the way up from the
 * file, whatever the path is called now.  The nearest answer counts; at the same distance a
 * denial beats a grant.
 *
 * What an answer covers:
 *
 *   - Reading and changing are asked and answered apart.  A yes to changing modes or times
 *     says nothing about contents, a yes to connecting to a socket nothing about removing
 *     it.  A no to a change keeps the file as it is: contents, name, modes.
 *   - "Once" covers the kind that was asked about: a yes to a file is none to a directory, a
 *     link, a FIFO or a second name in its place, and none to its removal; a yes to a link is
 *     one to where it leads.  What is made under a yes and has no contents may be removed again.
 *   - "Once" covers only what the same rule stops ("no rule" being one of them): whoever
 *     was asked about "notes.txt~" was not asked about a guarded name.
 *   - "Directory" covers what no rule stops, or what an "ask" rule of the user's own stops
 *     that covers that whole directory too: then the question was the rule's question.
 *     Never guarded names, credentials, or what a narrower rule singles out; and it is never
 *     given for "/", the home directory or what holds it.
 *   - In a worker's directories "directory" covers writing or deleting, as was asked.
 *   - No answer but one to itself covers the bits by which whoever runs a file gets its owner's rights.
 *   - Names that a program outside obeys (guard.h) are asked about one by one, whatever was
 *     answered for the place: a yes is for this one call; one to modes or a removal lasts as
 *     "once" does.
 *   - What a rule denies stays denied: sb_grants_find() says so, nothing is remembered.  Who
 *     wants to ask about a denied socket all the same makes the verdict SB_ASK first.
 *
 * Bounded: the oldest "once" gives way first, then the oldest directory (both are asked
 * again).  A denial never gives way: when no more can be kept, whatever is not granted
 * counts as denied.  Holds at most SB_GRANTS_DESCRIPTORS descriptors.
 */
#ifndef SB_CONSENT_GRANTS_H
#define SB_CONSENT_GRANTS_H

#include <limits.h>
#include <stdint.h>

#include "consent/question.h"

#define SB_GRANTS_DESCRIPTORS 385 /* well below the usual limit of 1024 */

struct sb_grants;
struct sb_guard_row;
struct sb_host_wish;

/* One thing that one process wants to do to one path. */
struct sb_wish {
	enum sb_op op;
	bool metadata;      /* modes, times, attributes: not the contents */
	bool sets_id;       /* whoever runs it gets its owner's rights: a question of its own */
	bool shows_content; /* the question shows the bytes: a yes to others is none to these */
	enum sb_thing thing;
	const char *leads_to; /* of a link that is made, or moved here; or NULL */
	const char *moved_to; /* SB_DELETE: it only gets this name, canonical; or NULL */
	bool arrives;         /* a directory gets the name, with what is in it at this moment */
	const struct sb_guard_row *guard; /* who outside obeys it; NULL: nobody */
	const char *path;                 /* canonical */
	int directory;    /* O_PATH descriptor of the directory that holds the last name */
	const char *name; /* the last name */
	struct sb_decision decision; /* of the policy: never SB_ALLOW here */
	pid_t process;    /* thread group id, as seen outside; 0: "once" is for all of the run */
	uint64_t started; /* when that process started: ids are used again */
	/* of a worker that the run's called: answers to one are none to another; 0: the run itself */
	unsigned inner;
	bool apart; /* of a worker: a yes to writing in a directory is none to deleting, and the reverse */
};

struct sb_grants *sb_grants_new(const char *home); /* NULL: out of memory */
void sb_grants_free(struct sb_grants *grants);

/*
 * What was answered before: SB_ANSWER_NONE when this has to be asked.  A yes to SB_CREATE is
 * for a name that is not there: perform it so (O_EXCL), or look again.
 */
enum sb_answer sb_grants_find(const struct sb_grants *grants, const struct sb_wish *wish);

/* May answers 2 and 4 be offered for this wish?  See above. */
bool sb_grants_may_open_directory(const struct sb_grants *grants, const struct sb_wish *wish);

/*
 * Which file "once" would be about: wish->name, or the file that is saved under it
 * (".notes.txt.swp": "notes.txt").  *out_why: what the name is ("vim's swap file"), or NULL.
 * The question has to show both when they differ, since a yes opens both.
 */
void sb_grants_subject(const struct sb_wish *wish, char out_file[NAME_MAX + 1],
		       const char **out_why);

/*
 * Remember an answer.  The directory descriptor is duplicated.  SB_E_REFUSED: this answer
 * cannot be given to this wish.  After any failure a denial holds all the same.
 */
int sb_grants_remember(struct sb_grants *grants, const struct sb_wish *wish, enum sb_answer answer,
		       struct sb_error *err);

/* The same about hosts: hosts.h. */
enum sb_answer sb_grants_find_host(const struct sb_grants *grants, const struct sb_host_wish *wish);
int sb_grants_remember_host(struct sb_grants *grants, const struct sb_host_wish *wish,
			    enum sb_answer answer, struct sb_error *err);

/* An act under a "once" grant made this new name: it belongs to the grant from now on. */
void sb_grants_made(struct sb_grants *grants, const struct sb_wish *wish);

/* The process is gone: its "once" grants end. */
void sb_grants_exited(struct sb_grants *grants, pid_t process);

/*
 * An answer that holds, as a person sees it.  Its number is its own in this run, and grows.
 */
struct sb_standing {
	unsigned long number;
	enum sb_answer answer; /* ONCE, DIRECTORY, ALWAYS, DENY */
	const char *act;       /* what it is about: "read", "change", "write", "delete" */
	bool host;             /* it is about a host, and path its text */
	const char *path;      /* as it was when it was answered; foreign: escape it */
	pid_t process;         /* of "once": */
	uint64_t started;      /* it holds no longer than this process */
};

typedef void (*sb_standing_found)(void *context, const struct sb_standing *standing);
void sb_grants_each(const struct sb_grants *grants, sb_standing_found found, void *context);

/* Grows whenever that list may have changed. */
unsigned long sb_grants_changes(const struct sb_grants *grants);

/*
 * It counts no longer: the next call that it covered is asked about.  What was done under it is
 * done, and a file that was opened stays open.  False: no answer has that number.
 */
bool sb_grants_take_back(struct sb_grants *grants, unsigned long number);

/*
 * How an answer reads as a rule, for a named session or the configuration: the access and
 * the canonical path it is for.  False: it lasts no longer than the process or the session
 * (once; a yes in a worker's directory; a denial about modes alone, or of bytes that were shown).  out_path is PATH_MAX bytes.
 */
bool sb_grants_as_rule(const struct sb_wish *wish, enum sb_answer answer,
		       struct sb_access *out_access, char *out_path);

#endif
