#include "consent/grants.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "consent/identity.h"
#include "consent/save_names.h"
#include "path/path.h"
#include "path/pattern.h"

enum {
	MAX_ONCE = 128,     /* a person answers questions; nobody has answered that many */
	MAX_DIRECTORY = 64, /* as many again */
	MAX_DENY = 512,     /* most without descriptors: see keep_denial() */
	MAX_DENY_PINS = 192,
	MAX_MADE = 48, /* names per grant: vim needs three, a careful writer five */
};

_Static_assert(MAX_ONCE + MAX_DIRECTORY + MAX_DENY_PINS + 1 == SB_GRANTS_DESCRIPTORS,
	       "the header tells how many descriptors are held; one is the home directory's");

/* What may be done to a file, as bits: one per operation, and one for metadata. */
enum {
	READS = 1u << SB_READ,
	MODIFIES = 1u << SB_MODIFY,
	CREATES = 1u << SB_CREATE,
	DELETES = 1u << SB_DELETE,
	METADATA = 1u << SB_OP_COUNT,
	CHANGES = MODIFIES | CREATES | DELETES | METADATA,
};

struct made { /* a name that came to be under a grant */
	char *name;
	struct sb_identity self;
};

struct once { /* also a denial, for the names around the one denied: see deny() */
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

struct opened {
	struct sb_identity where;
	int pin;
	char *path; /* when it was opened: which rules cover it does not change by renaming */
	unsigned acts;
};

struct denied {
	struct sb_identity where, self;
	int pin; /* of self, or of where when nothing is there; -1: none */
	char *name;
	bool exists; /* self is known */
	bool is_directory;
	unsigned acts;
};

struct sb_grants {
	char *home;
	int home_pin;
	struct once *once[MAX_ONCE]; /* oldest first, as the others */
	size_t once_count;
	struct opened opened[MAX_DIRECTORY];
	size_t opened_count;
	struct denied *denied; /* grows */
	size_t denied_count, denied_pins;
	bool full; /* a denial was lost: everything that is not granted is denied */
};

/* What stands at a wish's name now. */
struct sight {
	struct stat info;
	struct sb_identity where, self;
	bool exists;
};

static bool look(const struct sb_wish *wish, struct sight *out)
{
	struct stat where;

	if (fstat(wish->directory, &where) != 0)
		return false;
	out->where = sb_identity_of(&where);
	out->exists = fstatat(wish->directory, wish->name, &out->info, AT_SYMLINK_NOFOLLOW) == 0;
	if (!out->exists && errno != ENOENT)
		return false;
	if (out->exists)
		out->self = sb_identity_of(&out->info);
	return true;
}

static unsigned act_of(const struct sb_wish *wish)
{
	return wish->metadata ? METADATA : 1u << wish->op;
}

static int out_of_memory(struct sb_error *err)
{
	return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

struct sb_grants *sb_grants_new(const char *home)
{
	struct sb_grants *grants = calloc(1, sizeof *grants);

	if (!grants)
		return NULL;
	grants->home_pin = -1;
	grants->home = strdup(home);
	if (!grants->home) {
		sb_grants_free(grants);
		return NULL;
	}
	grants->home_pin = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return grants;
}

static void close_pin(int pin)
{
	if (pin >= 0)
		close(pin);
}

static void free_once(struct once *once)
{
	if (!once)
		return;
	close_pin(once->pin);
	free(once->name);
	free(once->file);
	free(once->rule);
	for (size_t i = 0; i < once->made_count; i++)
		free(once->made[i].name);
	free(once);
}

void sb_grants_free(struct sb_grants *grants)
{
	if (!grants)
		return;
	for (size_t i = 0; i < grants->once_count; i++)
		free_once(grants->once[i]);
	for (size_t i = 0; i < grants->opened_count; i++) {
		close_pin(grants->opened[i].pin);
		free(grants->opened[i].path);
	}
	for (size_t i = 0; i < grants->denied_count; i++) {
		close_pin(grants->denied[i].pin);
		free(grants->denied[i].name);
	}
	free(grants->denied);
	close_pin(grants->home_pin);
	free(grants->home);
	free(grants);
}

/* --- once -------------------------------------------------------------------- */

static bool same_rule(const char *pattern, const struct sb_rule *rule)
{
	if (!pattern || !rule)
		return !pattern && !rule;
	return strcmp(pattern, rule->pattern) == 0;
}

static const struct made *find_made(const struct once *once, const char *name)
{
	for (size_t i = 0; i < once->made_count; i++)
		if (strcmp(once->made[i].name, name) == 0)
			return &once->made[i];
	return NULL;
}

static bool is_file(const struct once *once, const struct sb_wish *wish, struct sb_identity self)
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
static bool belongs(const struct once *once, const struct sb_wish *wish, const struct sight *sight)
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

static bool is_once_of(const struct once *once, const struct sb_wish *wish,
		       struct sb_identity where)
{
	return once->process == wish->process && once->started == wish->started &&
	       sb_same_file(once->where, where) && (once->acts & act_of(wish));
}

static bool once_covers(const struct once *once, const struct sb_wish *wish,
			const struct sight *sight)
{
	if (!is_once_of(once, wish, sight->where))
		return false;
	if (once->answer == SB_ANSWER_DENY)
		return strcmp(wish->name, once->file) == 0 ||
		       sb_save_match(once->file, wish->name) != SB_SAVE_NOT;
	if (wish->shows_content || !same_rule(once->rule, wish->decision.rule))
		return false;
	if (strcmp(wish->name, once->name) == 0)
		return true;
	if (once->acts != CHANGES) /* a yes to less than a save is about that name alone */
		return false;
	return strcmp(wish->name, once->file) == 0 || belongs(once, wish, sight);
}

static void drop_once(struct sb_grants *grants, size_t i)
{
	free_once(grants->once[i]);
	memmove(grants->once + i, grants->once + i + 1,
		(--grants->once_count - i) * sizeof grants->once[0]);
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

static unsigned acts_once(const struct sb_wish *wish, const struct sight *sight)
{
	if (wish->op == SB_READ || wish->metadata)
		return act_of(wish);
	if (sight->exists && S_ISSOCK(sight->info.st_mode))
		return act_of(wish);
	/* A guarded name that may be removed may not be written anew. */
	if (wish->op == SB_DELETE && wish->decision.rule)
		return DELETES;
	return CHANGES;
}

static int remember_once(struct sb_grants *grants, const struct sb_wish *wish,
			 const struct sight *sight, enum sb_answer answer, struct sb_error *err)
{
	char file[NAME_MAX + 1];
	struct once *once = calloc(1, sizeof *once);
	const char *why;

	if (!once)
		return out_of_memory(err);
	sb_grants_subject(wish, file, &why);
	*once = (struct once){.answer = answer,
			      .process = wish->process,
			      .started = wish->started,
			      .where = sight->where,
			      .pin = -1,
			      .name = strdup(wish->name),
			      .file = strdup(file),
			      .acts = acts_once(wish, sight)};
	if (answer != SB_ANSWER_DENY && wish->decision.rule)
		once->rule = strdup(wish->decision.rule->pattern);
	if (!once->name || !once->file ||
	    (answer != SB_ANSWER_DENY && wish->decision.rule && !once->rule)) {
		free_once(once);
		return out_of_memory(err);
	}
	if (answer != SB_ANSWER_DENY) {
		once->pin = fcntl(wish->directory, F_DUPFD_CLOEXEC, 0);
		if (once->pin < 0) {
			free_once(once);
			return sb_fail(err, SB_E_SYSTEM, errno, "cannot remember '%s'", wish->path);
		}
	}
	if (grants->once_count == MAX_ONCE)
		drop_once(grants, 0);
	grants->once[grants->once_count++] = once;
	return SB_OK;
}

/* Names that came and went make room for others. */
static void forget_gone(struct once *once, int directory)
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

static void add_made(struct once *once, const struct sb_wish *wish, struct sb_identity self)
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

void sb_grants_made(struct sb_grants *grants, const struct sb_wish *wish)
{
	struct sight sight;

	if (!look(wish, &sight) || !sight.exists)
		return;
	for (size_t i = 0; i < grants->once_count; i++) {
		struct once *once = grants->once[i];

		if (once->answer != SB_ANSWER_DENY && once->acts == CHANGES &&
		    is_once_of(once, wish, sight.where) &&
		    same_rule(once->rule, wish->decision.rule) &&
		    sb_save_match(once->file, wish->name) != SB_SAVE_NOT)
			add_made(once, wish, sight.self);
	}
}

void sb_grants_exited(struct sb_grants *grants, pid_t process)
{
	for (size_t i = grants->once_count; i-- > 0;)
		if (grants->once[i]->process == process)
			drop_once(grants, i);
}

/* --- directory --------------------------------------------------------------- */

/* The user's own "ask", which covers this whole directory. */
static bool is_question_of(const struct sb_rule *rule, const char *directory)
{
	struct sb_pattern pattern;
	bool covers;

	if (rule->hard || rule->tier <= SB_TIER_SYSTEM)
		return false;
	if (sb_pattern_parse(rule->pattern, &pattern, NULL) != SB_OK)
		return false;
	covers = sb_pattern_covers(&pattern, directory);
	sb_pattern_done(&pattern);
	return covers;
}

static bool rule_lets_open(const struct sb_wish *wish, const char *directory)
{
	return wish->decision.verdict == SB_ASK &&
	       (!wish->decision.rule || is_question_of(wish->decision.rule, directory));
}

static bool is_same(void *context, struct sb_identity directory)
{
	return sb_same_file(*(const struct sb_identity *)context, directory);
}

/* Is this "/", the home directory, or above it?  What cannot be found out counts as yes. */
static bool holds_home(const struct sb_grants *grants, const char *path, int directory)
{
	struct stat root, info;
	struct sb_identity self;

	if (sb_path_within(path, grants->home))
		return true;
	if (fstat(directory, &info) != 0 || stat("/", &root) != 0)
		return true;
	self = sb_identity_of(&info);
	if (sb_same_file(self, sb_identity_of(&root)))
		return true;
	return grants->home_pin >= 0 && sb_walk_up(grants->home_pin, is_same, &self) != 0;
}

bool sb_grants_may_open_directory(const struct sb_grants *grants, const struct sb_wish *wish)
{
	SB_AUTO_FREE char *directory = sb_path_parent(wish->path);

	return directory && !wish->shows_content && rule_lets_open(wish, directory) &&
	       !holds_home(grants, directory, wish->directory);
}

static unsigned acts_lasting(const struct sb_wish *wish)
{
	return wish->op == SB_READ && !wish->metadata ? READS : CHANGES;
}

static int remember_directory(struct sb_grants *grants, const struct sb_wish *wish,
			      const struct sight *sight, struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_path_parent(wish->path);
	struct opened *opened;
	int pin;

	if (!path)
		return out_of_memory(err);
	for (size_t i = 0; i < grants->opened_count; i++)
		if (sb_same_file(grants->opened[i].where, sight->where) &&
		    strcmp(grants->opened[i].path, path) == 0) {
			grants->opened[i].acts |= acts_lasting(wish);
			return SB_OK;
		}
	pin = fcntl(wish->directory, F_DUPFD_CLOEXEC, 0);
	if (pin < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot remember '%s'", path);
	if (grants->opened_count == MAX_DIRECTORY) {
		close_pin(grants->opened[0].pin);
		free(grants->opened[0].path);
		memmove(grants->opened, grants->opened + 1,
			--grants->opened_count * sizeof *grants->opened);
	}
	opened = &grants->opened[grants->opened_count++];
	*opened = (struct opened){.where = sight->where,
				  .pin = pin,
				  .path = sb_take_ptr(&path),
				  .acts = acts_lasting(wish)};
	return SB_OK;
}

/* --- deny -------------------------------------------------------------------- */

static int add_denial(struct sb_grants *grants, const struct denied *denied, struct sb_error *err)
{
	struct denied *grown;

	if (grants->denied_count == MAX_DENY)
		return sb_fail(err, SB_E_REFUSED, 0, "too many denials to remember");
	grown = reallocarray(grants->denied, grants->denied_count + 1, sizeof *grown);
	if (!grown)
		return out_of_memory(err);
	grants->denied = grown;
	grown[grants->denied_count++] = *denied;
	return SB_OK;
}

/*
 * A denial needs no descriptor to be safe: without one its inode number may be given to
 * another file, which is then denied too.  So it gets one while there are some.
 */
static int keep_denial(struct sb_grants *grants, const struct sb_wish *wish,
		       const struct sight *sight, struct sb_error *err)
{
	struct denied denied = {.where = sight->where,
				.self = sight->self,
				.pin = -1,
				.name = strdup(wish->name),
				.exists = sight->exists,
				.is_directory = sight->exists && S_ISDIR(sight->info.st_mode),
				.acts = wish->metadata ? METADATA : acts_lasting(wish)};
	int status;

	if (!denied.name)
		return out_of_memory(err);
	if (grants->denied_pins < MAX_DENY_PINS)
		denied.pin = sight->exists ? openat(wish->directory, wish->name,
						    O_PATH | O_NOFOLLOW | O_CLOEXEC)
					   : fcntl(wish->directory, F_DUPFD_CLOEXEC, 0);
	status = add_denial(grants, &denied, err);
	if (status != SB_OK) {
		close_pin(denied.pin);
		free(denied.name);
		return status;
	}
	grants->denied_pins += denied.pin >= 0;
	return SB_OK;
}

static int deny(struct sb_grants *grants, const struct sb_wish *wish, const struct sight *sight,
		struct sb_error *err)
{
	int status = keep_denial(grants, wish, sight, err);

	if (status != SB_OK) {
		grants->full = true;
		return status;
	}
	/* Whoever may not make ".notes.txt.swp" would next be asked about "notes.txt". */
	if (acts_once(wish, sight) == CHANGES)
		remember_once(grants, wish, sight, SB_ANSWER_DENY, NULL);
	return SB_OK;
}

/* --- all of them ------------------------------------------------------------- */

int sb_grants_remember(struct sb_grants *grants, const struct sb_wish *wish, enum sb_answer answer,
		       struct sb_error *err)
{
	struct sight sight;

	if (!look(wish, &sight)) {
		grants->full |= answer == SB_ANSWER_DENY;
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot look at '%s'", wish->path);
	}
	if (answer == SB_ANSWER_DENY)
		return deny(grants, wish, &sight, err);
	if (answer == SB_ANSWER_NONE || wish->decision.verdict != SB_ASK)
		return sb_fail(err, SB_E_REFUSED, 0, "'%s' is not to be asked about", wish->path);
	if (answer == SB_ANSWER_ONCE)
		return wish->shows_content
			       ? SB_OK /* a yes to these bytes, which ends with them */
			       : remember_once(grants, wish, &sight, SB_ANSWER_ONCE, err);
	if (!sb_grants_may_open_directory(grants, wish))
		return sb_fail(err, SB_E_REFUSED, 0,
			       "the directory of '%s' cannot be opened as a whole", wish->path);
	return remember_directory(grants, wish, &sight, err);
}

static bool denied_itself(const struct sb_grants *grants, const struct sb_wish *wish,
			  const struct sight *sight)
{
	for (size_t i = 0; i < grants->denied_count; i++) {
		const struct denied *denied = &grants->denied[i];

		if (!(denied->acts & act_of(wish)))
			continue;
		if (denied->exists && sight->exists && sb_same_file(denied->self, sight->self))
			return true;
		if (sb_same_file(denied->where, sight->where) &&
		    strcmp(denied->name, wish->name) == 0)
			return true;
	}
	return false;
}

static enum sb_answer find_here(const struct sb_grants *grants, const struct sb_wish *wish,
				const struct sight *sight)
{
	enum sb_answer answer = SB_ANSWER_NONE;

	if (denied_itself(grants, wish, sight))
		return SB_ANSWER_DENY;
	/* A yes to this file beats a no to another one that is saved under the same names. */
	for (size_t i = 0; i < grants->once_count && answer != SB_ANSWER_ONCE; i++)
		if (once_covers(grants->once[i], wish, sight))
			answer = grants->once[i]->answer;
	/* Times and modes of an opened directory itself: whoever fills it sets them too. */
	for (size_t i = 0; i < grants->opened_count && wish->metadata && sight->exists &&
			   answer == SB_ANSWER_NONE;
	     i++)
		if (sb_same_file(grants->opened[i].where, sight->self) &&
		    (grants->opened[i].acts & METADATA) &&
		    rule_lets_open(wish, grants->opened[i].path))
			answer = SB_ANSWER_DIRECTORY;
	return answer;
}

struct search {
	const struct sb_grants *grants;
	const struct sb_wish *wish;
	enum sb_answer answer;
};

static bool answered_above(void *context, struct sb_identity directory)
{
	struct search *search = context;
	const struct sb_grants *grants = search->grants;
	unsigned act = act_of(search->wish);

	for (size_t i = 0; i < grants->denied_count; i++)
		if (grants->denied[i].is_directory && (grants->denied[i].acts & act) &&
		    sb_same_file(grants->denied[i].self, directory)) {
			search->answer = SB_ANSWER_DENY;
			return true;
		}
	for (size_t i = 0; i < grants->opened_count && !search->wish->shows_content; i++)
		if ((grants->opened[i].acts & act) &&
		    sb_same_file(grants->opened[i].where, directory) &&
		    rule_lets_open(search->wish, grants->opened[i].path)) {
			search->answer = SB_ANSWER_DIRECTORY;
			return true;
		}
	return false;
}

enum sb_answer sb_grants_find(const struct sb_grants *grants, const struct sb_wish *wish)
{
	struct search search = {grants, wish, SB_ANSWER_NONE};
	struct sight sight;

	if (wish->decision.verdict != SB_ASK)
		return SB_ANSWER_DENY;
	if (!look(wish, &sight))
		return grants->full ? SB_ANSWER_DENY : SB_ANSWER_NONE;
	search.answer = find_here(grants, wish, &sight);
	/* If the way up is barred, nothing is found there: then it is asked. */
	if (search.answer == SB_ANSWER_NONE && (grants->opened_count || grants->denied_count))
		sb_walk_up(wish->directory, answered_above, &search);
	if (search.answer == SB_ANSWER_NONE && grants->full)
		return SB_ANSWER_DENY;
	return search.answer;
}

/* --- as rules ---------------------------------------------------------------- */

static void set_all(struct sb_access *access, enum sb_verdict read, enum sb_verdict change)
{
	access->verdict[SB_READ] = (unsigned char)read;
	for (int op = SB_MODIFY; op < SB_OP_COUNT; op++)
		access->verdict[op] = (unsigned char)change;
}

bool sb_grants_as_rule(const struct sb_wish *wish, enum sb_answer answer,
		       struct sb_access *out_access, char *out_path)
{
	SB_AUTO_FREE char *directory = NULL;
	const char *path = wish->path;
	const struct sb_rule *rule = wish->decision.rule;
	/* A rule about changes says about reading what held before. */
	enum sb_verdict read = rule ? rule->access.verdict[SB_READ] : SB_ALLOW;
	bool reads = acts_lasting(wish) == READS;

	switch (answer) {
	case SB_ANSWER_DENY:
		if (wish->metadata)
			return false;
		set_all(out_access, reads ? SB_DENY : read, reads ? SB_ASK : SB_DENY);
		break;
	case SB_ANSWER_DIRECTORY:
	case SB_ANSWER_ALWAYS:
		set_all(out_access, reads ? SB_ALLOW : read, reads ? SB_ASK : SB_ALLOW);
		path = directory = sb_path_parent(wish->path);
		break;
	default:
		return false;
	}
	if (!path || strlen(path) >= PATH_MAX)
		return false;
	memcpy(out_path, path, strlen(path) + 1);
	return true;
}
