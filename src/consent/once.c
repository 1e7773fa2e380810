#include "consent/once.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/words.h"
#include "consent/save_names.h"

#define MAX_MADE 48 /* names per grant: vim needs three, a careful writer five */

struct made { /* a name that came to be under a grant */
	char *name;
	struct sb_identity self;
};

struct sb_once {
	enum sb_answer answer;
	pid_t process;
	uint64_t started;
	unsigned inner;
	struct sb_identity where;
	int pin; /* of where; -1 for a denial */
	unsigned long number;
	char *path; /* as it was asked, for people */
	char *name, *file;
	char *rule; /* pattern of the rule that stopped it; NULL: none */
	const struct sb_guard_row *guard;
	enum sb_thing thing;
	char *leads_to, *moved_to;
	unsigned acts;
	bool saves;   /* names around file belong to it */
	bool has_own; /* own is what was made at name itself */
	struct sb_identity own;
	struct made made[MAX_MADE];
	size_t made_count;
};

bool sb_look(const struct sb_wish *wish, struct sb_sight *out)
{
	struct stat where;

	if (fstat(wish->directory, &where) != 0)
		return false;
	*out = (struct sb_sight){.where = sb_identity_of(&where)};
	if (strchr(wish->name, '/'))
		out->barred = true;
	else if (fstatat(wish->directory, wish->name, &out->info, AT_SYMLINK_NOFOLLOW) == 0)
		out->exists = true;
	else
		out->barred = errno != ENOENT;
	if (out->exists)
		out->self = sb_identity_of(&out->info);
	return true;
}

static void free_once(struct sb_once *once)
{
	if (!once)
		return;
	if (once->pin >= 0)
		close(once->pin);
	free(once->path);
	free(once->name);
	free(once->file);
	free(once->rule);
	free(once->leads_to);
	free(once->moved_to);
	for (size_t i = 0; i < once->made_count; i++)
		free(once->made[i].name);
	free(once);
}

static bool same_rule(const char *pattern, const struct sb_rule *rule)
{
	if (!pattern || !rule)
		return !pattern && !rule;
	return strcmp(pattern, rule->pattern) == 0;
}

static const struct made *find_made(const struct sb_once *once, const char *name)
{
	for (size_t i = 0; i < once->made_count; i++)
		if (strcmp(once->made[i].name, name) == 0)
			return &once->made[i];
	return NULL;
}

static bool is_file(const struct sb_once *once, const struct sb_wish *wish, struct sb_identity self)
{
	struct stat info;

	return fstatat(wish->directory, once->file, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       sb_same_file(sb_identity_of(&info), self);
}

/*
 * SECURITY: "once" opens no other file that exists, and nothing but files.
 *
 * Danger: the name of a backup is chosen by who asks.  An existing "X.bak" or "X~" may be work, an
 * existing ".X.swp" that of an editor which has crashed; a link called "X~" leads anywhere.
 * Price: a save over an old backup is a second question, and so is emacs's lock, a link.
 * Held by: tests/unit/test_grants.c
 */
static bool belongs(const struct sb_once *once, const struct sb_wish *wish,
		    const struct sb_sight *sight)
{
	const struct made *made = find_made(once, wish->name);

	if (wish->thing != SB_THING_FILE || (sight->exists && !S_ISREG(sight->info.st_mode)))
		return false;
	if (made && sight->exists && sb_same_file(made->self, sight->self))
		return true;
	if (sb_save_match(once->file, wish->name) == SB_SAVE_NOT)
		return false;
	if (sight->exists) /* nothing is lost of what is the file itself */
		return !wish->moved_to && is_file(once, wish, sight->self);
	return made || once->made_count < MAX_MADE;
}

/* Is the file only put aside, under a name by which it is saved? */
static bool is_put_aside(const struct sb_once *once, const struct sb_wish *wish)
{
	const char *name = wish->moved_to ? strrchr(wish->moved_to, '/') : NULL;
	size_t length = name ? (size_t)(name - wish->moved_to) : 0;

	return name && strncmp(wish->path, wish->moved_to, length + 1) == 0 &&
	       !strchr(wish->path + length + 1, '/') &&
	       sb_save_match(once->file, name + 1) != SB_SAVE_NOT;
}

/*
 * SECURITY: a yes to a file is none to its removal.
 *
 * Danger: who may write a file could take it away, or move it to where it is its own.
 * Price: a program that removes a file and writes it anew asks twice.
 * Held by: tests/unit/test_grants.c, tests/cli/once.py
 *
 * What has no contents (a link, an empty directory) is as it was when it is removed by whom it
 * was made; and a temporary file that it made is its own.
 */
static bool may_remove(const struct sb_once *once, const struct sb_wish *wish,
		       const struct sb_sight *sight)
{
	bool itself = strcmp(wish->name, once->name) == 0;
	bool made = once->has_own && sight->exists && sb_same_file(once->own, sight->self);

	if (once->acts & SB_ACT_DELETE)
		return itself && once->thing == wish->thing &&
		       sb_text_same(once->moved_to, wish->moved_to);
	if (itself && once->thing != SB_THING_FILE)
		return made && once->thing != SB_THING_NAME && !wish->moved_to;
	if (itself && made && sb_save_temporary(wish->name))
		return true;
	if (!once->saves || wish->thing != SB_THING_FILE)
		return false;
	return strcmp(wish->name, once->file) == 0 ? is_put_aside(once, wish)
						   : belongs(once, wish, sight);
}

/* The same kind of thing.  Modes are set of what was made, whatever it is. */
static bool same_thing(const struct sb_once *once, const struct sb_wish *wish)
{
	return wish->metadata ||
	       (once->thing == wish->thing && sb_text_same(once->leads_to, wish->leads_to));
}

static bool is_once_of(const struct sb_once *once, const struct sb_wish *wish,
		       struct sb_identity where)
{
	return once->process == wish->process && once->started == wish->started &&
	       once->inner == wish->inner && sb_same_file(once->where, where);
}

static bool is_denied(const struct sb_once *once, const struct sb_wish *wish)
{
	return wish->op != SB_READ && (strcmp(wish->name, once->file) == 0 ||
				       (wish->thing == SB_THING_FILE &&
					sb_save_match(once->file, wish->name) != SB_SAVE_NOT));
}

static bool once_covers(const struct sb_once *once, const struct sb_wish *wish,
			const struct sb_sight *sight)
{
	if (!is_once_of(once, wish, sight->where))
		return false;
	if (once->answer == SB_ANSWER_DENY)
		return is_denied(once, wish);
	if (sight->barred || wish->shows_content || once->guard != wish->guard ||
	    !same_rule(once->rule, wish->decision.rule))
		return false;
	if (wish->op == SB_DELETE && !wish->metadata)
		return may_remove(once, wish, sight);
	if (!(once->acts & sb_act_of(wish)) || !same_thing(once, wish))
		return false;
	return strcmp(wish->name, once->name) == 0 ||
	       (once->saves && (strcmp(wish->name, once->file) == 0 || belongs(once, wish, sight)));
}

static void drop(struct sb_once_list *list, size_t i)
{
	free_once(list->list[i]);
	memmove(list->list + i, list->list + i + 1, (--list->count - i) * sizeof *list->list);
}

void sb_once_done(struct sb_once_list *list)
{
	while (list->count)
		free_once(list->list[--list->count]);
}

enum sb_answer sb_once_find(const struct sb_once_list *list, const struct sb_wish *wish,
			    const struct sb_sight *sight)
{
	enum sb_answer answer = SB_ANSWER_NONE;

	/* A yes to this file beats a no to another one that is saved under the same names. */
	for (size_t i = 0; i < list->count && answer != SB_ANSWER_ONCE; i++)
		if (once_covers(list->list[i], wish, sight))
			answer = list->list[i]->answer;
	return answer;
}

void sb_grants_subject(const struct sb_wish *wish, char out_file[NAME_MAX + 1],
		       const char **out_why)
{
	*out_why = NULL;
	out_file[0] = '\0';
	if (strlen(wish->name) > NAME_MAX)
		return;
	/* Only a file that is made for the sake of a save: deleting an old "X~" is not about X, and
	 * nobody saves in a directory, a link, a FIFO or under a second name. */
	if (wish->op == SB_CREATE && !wish->metadata && !wish->guard &&
	    wish->thing == SB_THING_FILE) {
		if (sb_save_file(wish->directory, wish->name, out_file, out_why))
			return;
		*out_why = sb_save_temporary(wish->name);
	}
	memcpy(out_file, wish->name, strlen(wish->name) + 1);
}

static bool is_for_contents(const struct sb_wish *wish, const struct sb_sight *sight)
{
	return wish->thing == SB_THING_FILE && !wish->metadata &&
	       (wish->op == SB_MODIFY || wish->op == SB_CREATE) &&
	       !(sight->exists && S_ISSOCK(sight->info.st_mode));
}

/* Names that somebody outside obeys are meant alone. */
bool sb_once_saves(const struct sb_wish *wish, const struct sb_sight *sight)
{
	return is_for_contents(wish, sight) && !wish->guard;
}

/* What "once" lets be done to the name that was shown: sb_act_of() bits. */
static unsigned acts_of(const struct sb_wish *wish, const struct sb_sight *sight)
{
	if (is_for_contents(wish, sight))
		return SB_ACT_CHANGE & ~SB_ACT_DELETE;
	/* who makes a directory or a FIFO gives it its modes */
	return sb_act_of(wish) | (wish->op == SB_CREATE && !wish->metadata ? SB_ACT_METADATA : 0);
}

static char *copy(const char *text, bool *whole)
{
	char *copied = text ? strdup(text) : NULL;

	*whole &= !text || copied;
	return copied;
}

int sb_once_add(struct sb_once_list *list, const struct sb_wish *wish, const struct sb_sight *sight,
		enum sb_answer answer, struct sb_error *err)
{
	bool yes = answer != SB_ANSWER_DENY, whole = true;
	struct sb_once *once = calloc(1, sizeof *once);
	char file[NAME_MAX + 1];
	const char *why;

	if (!once)
		return sb_no_memory(err);
	sb_grants_subject(wish, file, &why);
	*once = (struct sb_once){.answer = answer,
				 .process = wish->process,
				 .started = wish->started,
				 .inner = wish->inner,
				 .where = sight->where,
				 .pin = -1,
				 .number = list->number,
				 .path = copy(wish->path, &whole),
				 .name = copy(wish->name, &whole),
				 .file = copy(file, &whole),
				 .guard = wish->guard,
				 .thing = wish->thing,
				 .leads_to = copy(wish->leads_to, &whole),
				 .moved_to = copy(wish->moved_to, &whole),
				 .acts = acts_of(wish, sight),
				 .saves = sb_once_saves(wish, sight)};
	if (yes && wish->decision.rule)
		once->rule = copy(wish->decision.rule->pattern, &whole);
	if (!whole) {
		free_once(once);
		return sb_no_memory(err);
	}
	if (yes) {
		once->pin = fcntl(wish->directory, F_DUPFD_CLOEXEC, 0);
		if (once->pin < 0) {
			free_once(once);
			return sb_fail(err, SB_E_SYSTEM, errno, "cannot remember '%s'", wish->path);
		}
	}
	if (list->count == SB_ONCE_MAX)
		drop(list, 0);
	list->list[list->count++] = once;
	return SB_OK;
}

/* Names that came and went make room for others. */
static void forget_gone(struct sb_once *once, int directory)
{
	size_t kept = 0;

	for (size_t i = 0; i < once->made_count; i++) {
		struct stat info;

		if (fstatat(directory, once->made[i].name, &info, AT_SYMLINK_NOFOLLOW) != 0 &&
		    errno == ENOENT)
			free(once->made[i].name);
		else
			once->made[kept++] = once->made[i];
	}
	once->made_count = kept;
}

static void add_made(struct sb_once *once, const struct sb_wish *wish, struct sb_identity self)
{
	struct made *made = (struct made *)find_made(once, wish->name);
	char *name;

	if (made) {
		made->self = self;
		return;
	}
	if (once->made_count == MAX_MADE)
		return;
	name = strdup(wish->name);
	if (!name)
		return; /* it will be asked about */
	once->made[once->made_count++] = (struct made){name, self};
	if (once->made_count == MAX_MADE)
		forget_gone(once, wish->directory);
}

void sb_once_made(struct sb_once_list *list, const struct sb_wish *wish)
{
	struct sb_sight sight;

	if (!sb_look(wish, &sight) || !sight.exists)
		return;
	for (size_t i = 0; i < list->count; i++) {
		struct sb_once *once = list->list[i];

		if (once->answer == SB_ANSWER_DENY || !is_once_of(once, wish, sight.where) ||
		    once->thing != wish->thing || !same_rule(once->rule, wish->decision.rule))
			continue;
		if (strcmp(once->name, wish->name) == 0) {
			once->has_own = true;
			once->own = sight.self;
		}
		if (once->saves && S_ISREG(sight.info.st_mode) &&
		    sb_save_match(once->file, wish->name) != SB_SAVE_NOT)
			add_made(once, wish, sight.self);
	}
}

void sb_once_exited(struct sb_once_list *list, pid_t process)
{
	for (size_t i = list->count; i-- > 0;)
		if (list->list[i]->process == process)
			drop(list, i);
}

void sb_once_each(const struct sb_once_list *list, sb_standing_found found, void *context)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct sb_once *once = list->list[i];

		if (once->answer == SB_ANSWER_ONCE)
			found(context, &(struct sb_standing){
					       .number = once->number,
					       .answer = SB_ANSWER_ONCE,
					       .act = once->acts == SB_ACT_READ ? "read" : "change",
					       .path = once->path,
					       .process = once->process,
					       .started = once->started});
	}
}

bool sb_once_take_back(struct sb_once_list *list, unsigned long number)
{
	size_t before = list->count;

	for (size_t i = list->count; i-- > 0;)
		if (list->list[i]->number == number)
			drop(list, i);
	return list->count < before;
}
