#include "consent/once.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	struct sb_identity where;
	int pin; /* of where; -1 for a denial */
	char *name, *file;
	char *rule; /* pattern of the rule that stopped it; NULL: none */
	unsigned acts;
	struct made made[MAX_MADE];
	size_t made_count;
};

static void free_once(struct sb_once *once)
{
	if (!once)
		return;
	if (once->pin >= 0)
		close(once->pin);
	free(once->name);
	free(once->file);
	free(once->rule);
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
 * SECURITY: "once" opens no other file that exists.
 *
 * Danger: the name of a backup is chosen by who asks.  An existing "X.bak" may be work, an
 * existing "X~" another name of a file elsewhere.
 * Price: sed -i.bak over an old backup is a second question.
 * Held by: tests/unit/test_grants.c
 */
static bool belongs(const struct sb_once *once, const struct sb_wish *wish,
		    const struct sb_sight *sight)
{
	const struct made *made = find_made(once, wish->name);

	if (made && sight->exists && sb_same_file(made->self, sight->self))
		return true;
	switch (sb_save_match(once->file, wish->name)) {
	case SB_SAVE_NOT:
		return false;
	case SB_SAVE_OLD:
		if (sight->exists)
			return S_ISLNK(sight->info.st_mode) ||
			       (S_ISREG(sight->info.st_mode) &&
				(sight->info.st_nlink == 1 || wish->op == SB_DELETE ||
				 is_file(once, wish, sight->self)));
		break;
	case SB_SAVE_NEW:
		if (sight->exists)
			return false;
		break;
	}
	return made || once->made_count < MAX_MADE;
}

static bool is_once_of(const struct sb_once *once, const struct sb_wish *wish,
		       struct sb_identity where)
{
	return once->process == wish->process && once->started == wish->started &&
	       sb_same_file(once->where, where) && (once->acts & sb_act_of(wish));
}

static bool once_covers(const struct sb_once *once, const struct sb_wish *wish,
			const struct sb_sight *sight)
{
	if (!is_once_of(once, wish, sight->where))
		return false;
	if (once->answer == SB_ANSWER_DENY)
		return strcmp(wish->name, once->file) == 0 ||
		       sb_save_match(once->file, wish->name) != SB_SAVE_NOT;
	if (sight->barred || wish->shows_content || !same_rule(once->rule, wish->decision.rule))
		return false;
	if (strcmp(wish->name, once->name) == 0)
		return true;
	if (once->acts != SB_ACT_CHANGE) /* a yes to less than a save is about that name alone */
		return false;
	return strcmp(wish->name, once->file) == 0 || belongs(once, wish, sight);
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
	/* Only what is made for the sake of a save: deleting an old "X~" is not about X. */
	if (wish->op == SB_CREATE && !wish->metadata &&
	    sb_save_file(wish->directory, wish->name, out_file, out_why))
		return;
	if (wish->op == SB_CREATE)
		*out_why = sb_save_temporary(wish->name);
	memcpy(out_file, wish->name, strlen(wish->name) + 1);
}

unsigned sb_once_acts(const struct sb_wish *wish, const struct sb_sight *sight)
{
	if (wish->op == SB_READ || wish->metadata)
		return sb_act_of(wish);
	if (sight->exists && S_ISSOCK(sight->info.st_mode))
		return sb_act_of(wish);
	/* A guarded name that may be removed may not be written anew. */
	if (wish->op == SB_DELETE && wish->decision.rule)
		return SB_ACT_DELETE;
	return SB_ACT_CHANGE;
}

int sb_once_add(struct sb_once_list *list, const struct sb_wish *wish, const struct sb_sight *sight,
		enum sb_answer answer, struct sb_error *err)
{
	char file[NAME_MAX + 1];
	struct sb_once *once = calloc(1, sizeof *once);
	const char *why;

	if (!once)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	sb_grants_subject(wish, file, &why);
	*once = (struct sb_once){.answer = answer,
				 .process = wish->process,
				 .started = wish->started,
				 .where = sight->where,
				 .pin = -1,
				 .name = strdup(wish->name),
				 .file = strdup(file),
				 .acts = sb_once_acts(wish, sight)};
	if (answer != SB_ANSWER_DENY && wish->decision.rule)
		once->rule = strdup(wish->decision.rule->pattern);
	if (!once->name || !once->file ||
	    (answer != SB_ANSWER_DENY && wish->decision.rule && !once->rule)) {
		free_once(once);
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	}
	if (answer != SB_ANSWER_DENY) {
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

		if (once->answer != SB_ANSWER_DENY && once->acts == SB_ACT_CHANGE &&
		    is_once_of(once, wish, sight.where) &&
		    same_rule(once->rule, wish->decision.rule) &&
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
