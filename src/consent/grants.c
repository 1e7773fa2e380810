#include "consent/grants.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "consent/hosts.h"
#include "consent/identity.h"
#include "consent/once.h"
#include "path/path.h"
#include "path/pattern.h"

enum {
	MAX_DIRECTORY = 64,
	MAX_DENY = 512, /* most without descriptors: see keep_denial() */
	MAX_DENY_PINS = 192,
};

_Static_assert(SB_ONCE_MAX + MAX_DIRECTORY + MAX_DENY_PINS + 1 == SB_GRANTS_DESCRIPTORS,
	       "the header tells how many descriptors are held; one is the home directory's");

struct opened {
	unsigned long number;
	bool always; /* the configuration has it, too */
	unsigned inner;
	struct sb_identity where;
	int pin;
	char *path; /* when it was opened: which rules cover it does not change by renaming */
	unsigned acts;
};

struct denied {
	unsigned long number;
	unsigned inner;
	struct sb_identity where, self;
	int pin; /* of self, or of where when nothing is there; -1: none */
	char *name;
	char *path;  /* as it was, for people */
	bool exists; /* self is known */
	bool is_directory;
	unsigned acts;
};

struct sb_grants {
	char *home;
	int home_pin;
	struct sb_once_list once;
	struct opened opened[MAX_DIRECTORY]; /* oldest first */
	size_t opened_count;
	struct denied *denied; /* grows */
	size_t denied_count, denied_pins;
	bool full; /* a denial was lost: everything that is not granted is denied */
	struct sb_host_list hosts;
	unsigned long changes;
};

static void end_opened(struct opened *opened)
{
	sb_auto_close(&opened->pin);
	free(opened->path);
}

static void end_denial(struct denied *denied)
{
	sb_auto_close(&denied->pin);
	free(denied->name);
	free(denied->path);
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

void sb_grants_free(struct sb_grants *grants)
{
	if (!grants)
		return;
	sb_once_done(&grants->once);
	for (size_t i = 0; i < grants->opened_count; i++)
		end_opened(&grants->opened[i]);
	for (size_t i = 0; i < grants->denied_count; i++)
		end_denial(&grants->denied[i]);
	free(grants->denied);
	free(grants->hosts.answers);
	sb_auto_close(&grants->home_pin);
	free(grants->home);
	free(grants);
}

void sb_grants_made(struct sb_grants *grants, const struct sb_wish *wish)
{
	sb_once_made(&grants->once, wish);
}

void sb_grants_exited(struct sb_grants *grants, pid_t process)
{
	sb_once_exited(&grants->once, process);
	sb_host_list_exited(&grants->hosts, process);
	grants->changes++;
}

/* --- directory --------------------------------------------------------------- */

/* The user's own "ask", which covers this whole directory. */
static bool is_question_of(const struct sb_rule *rule, const char *directory)
{
	SB_AUTO(sb_pattern_done) struct sb_pattern pattern = {0};

	if (rule->hard || rule->tier <= SB_TIER_SYSTEM)
		return false;
	if (sb_pattern_parse(rule->pattern, &pattern, NULL) != SB_OK)
		return false;
	return sb_pattern_covers(&pattern, directory);
}

/*
 * SECURITY: an answer about a place is none about names that a program outside obeys.
 *
 * Danger: "everything in ~/.config" would be a yes to ~/.config/autostart/x.  The rule that
 * stopped it does not tell: where the user's own "ask" covers the place, that is the rule.
 * Price: such names are questions, one each.
 * Held by: tests/unit/test_grants.c, tests/cli/guard_consent.py, tests/mcp/guarded.py
 */
static bool rule_lets_open(const struct sb_wish *wish, const char *directory)
{
	return wish->decision.verdict == SB_ASK && !wish->guard &&
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
	return wish->op == SB_READ && !wish->metadata ? SB_ACT_READ : SB_ACT_CHANGE;
}

/* The same of a yes for a directory. */
static unsigned acts_opened(const struct sb_wish *wish)
{
	unsigned acts = acts_lasting(wish);

	if (!wish->apart || acts == SB_ACT_READ)
		return acts;
	return sb_act_of(wish) == SB_ACT_DELETE ? SB_ACT_DELETE : acts & ~SB_ACT_DELETE;
}

static int remember_directory(struct sb_grants *grants, const struct sb_wish *wish,
			      const struct sb_sight *sight, bool always, struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_path_parent(wish->path);
	struct opened *opened;
	int pin;

	if (!path)
		return sb_no_memory(err);
	for (size_t i = 0; i < grants->opened_count; i++)
		if (sb_same_file(grants->opened[i].where, sight->where) &&
		    grants->opened[i].inner == wish->inner &&
		    (!wish->apart || grants->opened[i].acts == acts_opened(wish)) &&
		    strcmp(grants->opened[i].path, path) == 0) {
			grants->opened[i].number = grants->once.number; /* it says more now */
			grants->opened[i].acts |= acts_opened(wish);
			grants->opened[i].always |= always;
			return SB_OK;
		}
	pin = fcntl(wish->directory, F_DUPFD_CLOEXEC, 0);
	if (pin < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot remember '%s'", path);
	if (grants->opened_count == MAX_DIRECTORY) {
		end_opened(&grants->opened[0]);
		memmove(grants->opened, grants->opened + 1,
			--grants->opened_count * sizeof *grants->opened);
	}
	opened = &grants->opened[grants->opened_count++];
	*opened = (struct opened){.number = grants->once.number,
				  .always = always,
				  .inner = wish->inner,
				  .where = sight->where,
				  .pin = pin,
				  .path = sb_take_ptr(&path),
				  .acts = acts_opened(wish)};
	return SB_OK;
}

/* --- deny -------------------------------------------------------------------- */

static int add_denial(struct sb_grants *grants, const struct denied *denied, struct sb_error *err)
{
	if (grants->denied_count == MAX_DENY)
		return sb_fail(err, SB_E_REFUSED, 0, "too many denials to remember");
	if (!SB_GROW(grants->denied, grants->denied_count))
		return sb_no_memory(err);
	grants->denied[grants->denied_count++] = *denied;
	return SB_OK;
}

/*
 * A denial needs no descriptor to be safe: without one its inode number may be given to
 * another file, which is then denied too.  So it gets one while there are some.
 */
static int keep_denial(struct sb_grants *grants, const struct sb_wish *wish,
		       const struct sb_sight *sight, struct sb_error *err)
{
	struct denied denied = {.number = grants->once.number,
				.inner = wish->inner,
				.where = sight->where,
				.self = sight->self,
				.pin = -1,
				.name = strdup(wish->name),
				.path = strdup(wish->path),
				.exists = sight->exists,
				.is_directory = sight->exists && S_ISDIR(sight->info.st_mode),
				.acts = wish->metadata ? SB_ACT_METADATA : acts_lasting(wish)};
	int status;

	if (denied.name && denied.path && grants->denied_pins < MAX_DENY_PINS)
		denied.pin = sight->exists ? openat(wish->directory, wish->name,
						    O_PATH | O_NOFOLLOW | O_CLOEXEC)
					   : fcntl(wish->directory, F_DUPFD_CLOEXEC, 0);
	status = denied.name && denied.path ? add_denial(grants, &denied, err) : sb_no_memory(err);
	if (status != SB_OK) {
		end_denial(&denied);
		return status;
	}
	grants->denied_pins += denied.pin >= 0;
	return SB_OK;
}

static int deny(struct sb_grants *grants, const struct sb_wish *wish, const struct sb_sight *sight,
		struct sb_error *err)
{
	int status = keep_denial(grants, wish, sight, err);

	if (status != SB_OK) {
		grants->full = true;
		return status;
	}
	if (sb_once_saves(wish, sight))
		sb_once_add(&grants->once, wish, sight, SB_ANSWER_DENY, NULL);
	return SB_OK;
}

/* --- all of them ------------------------------------------------------------- */

/*
 * What lands on a guarded name was looked at this once: a link's end; and a directory's contents are what
 * they were, wherever it goes.  A file
 * that is opened there has none yet: that yes was to whatever this process writes.
 */
static bool is_for_this_call(const struct sb_wish *wish)
{
	return wish->arrives || (wish->guard && !wish->metadata && wish->op != SB_DELETE &&
				 wish->thing != SB_THING_FILE);
}

int sb_grants_remember(struct sb_grants *grants, const struct sb_wish *wish, enum sb_answer answer,
		       struct sb_error *err)
{
	struct sb_sight sight;

	grants->changes++;
	grants->once.number++;
	if (!sb_look(wish, &sight)) {
		grants->full |= answer == SB_ANSWER_DENY;
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot look at '%s'", wish->path);
	}
	if (answer == SB_ANSWER_DENY)
		return deny(grants, wish, &sight, err);
	if (answer == SB_ANSWER_NONE || wish->decision.verdict != SB_ASK)
		return sb_fail(err, SB_E_REFUSED, 0, "'%s' is not to be asked about", wish->path);
	if (answer == SB_ANSWER_ONCE)
		return wish->shows_content || is_for_this_call(wish)
			       ? SB_OK /* a yes to these bytes, which ends with them */
			       : sb_once_add(&grants->once, wish, &sight, SB_ANSWER_ONCE, err);
	if (!sb_grants_may_open_directory(grants, wish))
		return sb_fail(err, SB_E_REFUSED, 0,
			       "the directory of '%s' cannot be opened as a whole", wish->path);
	return remember_directory(grants, wish, &sight, answer == SB_ANSWER_ALWAYS, err);
}

static bool denied_itself(const struct sb_grants *grants, const struct sb_wish *wish,
			  const struct sb_sight *sight)
{
	for (size_t i = 0; i < grants->denied_count; i++) {
		const struct denied *denied = &grants->denied[i];

		if (!(denied->acts & sb_act_of(wish)) || denied->inner != wish->inner)
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
				const struct sb_sight *sight)
{
	enum sb_answer answer;

	if (denied_itself(grants, wish, sight))
		return SB_ANSWER_DENY;
	answer = sb_once_find(&grants->once, wish, sight);
	/* Times and modes of an opened directory itself: whoever fills it sets them too. */
	for (size_t i = 0; i < grants->opened_count && wish->metadata && sight->exists &&
			   answer == SB_ANSWER_NONE;
	     i++)
		if (sb_same_file(grants->opened[i].where, sight->self) &&
		    grants->opened[i].inner == wish->inner &&
		    (grants->opened[i].acts & SB_ACT_METADATA) &&
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
	unsigned act = sb_act_of(search->wish);

	for (size_t i = 0; i < grants->denied_count; i++)
		if (grants->denied[i].is_directory && (grants->denied[i].acts & act) &&
		    grants->denied[i].inner == search->wish->inner &&
		    sb_same_file(grants->denied[i].self, directory)) {
			search->answer = SB_ANSWER_DENY;
			return true;
		}
	for (size_t i = 0; i < grants->opened_count && !search->wish->shows_content; i++)
		if ((grants->opened[i].acts & act) &&
		    grants->opened[i].inner == search->wish->inner &&
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
	struct sb_sight sight;

	if (wish->decision.verdict != SB_ASK)
		return SB_ANSWER_DENY;
	if (!sb_look(wish, &sight))
		return grants->full ? SB_ANSWER_DENY : SB_ANSWER_NONE;
	search.answer = find_here(grants, wish, &sight);
	/* If the way up is barred, nothing is found there: then it is asked. */
	if (search.answer == SB_ANSWER_NONE && (grants->opened_count || grants->denied_count))
		sb_walk_up(wish->directory, answered_above, &search);
	if (search.answer == SB_ANSWER_NONE && grants->full)
		return SB_ANSWER_DENY;
	return wish->sets_id && search.answer != SB_ANSWER_DENY ? SB_ANSWER_NONE : search.answer;
}

enum sb_answer sb_grants_find_host(const struct sb_grants *grants, const struct sb_host_wish *wish)
{
	return sb_host_list_find(&grants->hosts, wish);
}

int sb_grants_remember_host(struct sb_grants *grants, const struct sb_host_wish *wish,
			    enum sb_answer answer, struct sb_error *err)
{
	grants->changes++;
	return sb_host_list_add(&grants->hosts, ++grants->once.number, wish, answer, err);
}

/* --- seen and taken back ------------------------------------------------------ */

static const char *word_of(unsigned acts)
{
	return acts == SB_ACT_READ     ? "read"
	       : acts == SB_ACT_DELETE ? "delete"
	       : acts & SB_ACT_DELETE  ? "change"
				       : "write";
}

unsigned long sb_grants_changes(const struct sb_grants *grants)
{
	return grants->changes;
}

void sb_grants_each(const struct sb_grants *grants, sb_standing_found found, void *context)
{
	sb_once_each(&grants->once, found, context);
	for (size_t i = 0; i < grants->opened_count; i++) {
		const struct opened *opened = &grants->opened[i];

		found(context, &(struct sb_standing){.number = opened->number,
						     .answer = opened->always ? SB_ANSWER_ALWAYS
									      : SB_ANSWER_DIRECTORY,
						     .act = word_of(opened->acts),
						     .path = opened->path});
	}
	for (size_t i = 0; i < grants->denied_count; i++)
		found(context,
		      &(struct sb_standing){.number = grants->denied[i].number,
					    .answer = SB_ANSWER_DENY,
					    .act = grants->denied[i].acts == SB_ACT_READ ? "read"
											 : "change",
					    .path = grants->denied[i].path});
	for (size_t i = 0; i < grants->hosts.count; i++) {
		const struct sb_host_answer *host = &grants->hosts.answers[i];

		found(context, &(struct sb_standing){.number = host->number,
						     .answer = host->answer,
						     .host = true,
						     .path = host->text,
						     .process = host->process,
						     .started = host->started});
	}
}

bool sb_grants_take_back(struct sb_grants *grants, unsigned long number)
{
	/* a denial has its other side there, under the same number */
	bool found = sb_once_take_back(&grants->once, number);

	found |= sb_host_list_take_back(&grants->hosts, number);
	for (size_t i = grants->opened_count; i-- > 0;) {
		if (grants->opened[i].number != number)
			continue;
		end_opened(&grants->opened[i]);
		memmove(grants->opened + i, grants->opened + i + 1,
			(--grants->opened_count - i) * sizeof *grants->opened);
		found = true;
	}
	for (size_t i = grants->denied_count; i-- > 0;) {
		if (grants->denied[i].number != number)
			continue;
		grants->denied_pins -= grants->denied[i].pin >= 0;
		end_denial(&grants->denied[i]);
		memmove(grants->denied + i, grants->denied + i + 1,
			(--grants->denied_count - i) * sizeof *grants->denied);
		found = true;
	}
	grants->changes += found;
	return found;
}

/* --- as rules ---------------------------------------------------------------- */

static void set_all(struct sb_access *access, enum sb_verdict read, enum sb_verdict change)
{
	access->quiet = 0;
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
	bool reads = acts_lasting(wish) == SB_ACT_READ;

	switch (answer) {
	case SB_ANSWER_DENY:
		/* bytes were refused, not the file: a rule would keep harmless ones out as well */
		if (wish->metadata || wish->shows_content)
			return false;
		set_all(out_access, reads ? SB_DENY : read, reads ? SB_ASK : SB_DENY);
		break;
	case SB_ANSWER_DIRECTORY:
	case SB_ANSWER_ALWAYS:
		if (wish->apart) /* the file says what lasts */
			return false;
		set_all(out_access, reads ? SB_ALLOW : read, reads ? SB_ASK : SB_ALLOW);
		directory = sb_path_parent(wish->path);
		path = directory;
		break;
	default:
		return false;
	}
	if (!path || strlen(path) >= PATH_MAX)
		return false;
	memcpy(out_path, path, strlen(path) + 1);
	return true;
}
