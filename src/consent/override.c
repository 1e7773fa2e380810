#include "consent/override.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "config/rules.h"
#include "consent/hosts.h"
#include "path/path.h"
#include "policy/text.h"

void sb_standing_words(const struct sb_standing *standing, struct sb_buf *out)
{
	const char *act = standing->host ? "connect to" : standing->act;
	const char *all = standing->host ? "" : "everything in ";

	switch (standing->answer) {
	case SB_ANSWER_DIRECTORY:
		sb_buf_printf(out, "allowed for this run: %s %s", act, all);
		break;
	case SB_ANSWER_ALWAYS:
		sb_buf_printf(out, "always allowed (configuration): %s %s", act, all);
		break;
	case SB_ANSWER_DENY:
		sb_buf_printf(out, "denied for this run: %s ", act);
		break;
	default:
		if (standing->process)
			sb_buf_printf(out, "allowed once, to process %d: %s ", standing->process,
				      act);
		else
			sb_buf_printf(out, "allowed for this run: %s ", act);
		break;
	}
	sb_escape_name(out, standing->path, strlen(standing->path));
}

struct telling {
	struct sb_socket *socket;
	bool (*holds)(void *context, const struct sb_standing *standing);
	void *context;
};

static void tell(void *context, const struct sb_standing *standing)
{
	SB_AUTO_BUF struct sb_buf words = SB_BUF(8 * PATH_MAX); /* a path, each byte as \xNN */
	const struct telling *telling = context;

	if (telling->holds && !telling->holds(telling->context, standing))
		return;
	sb_standing_words(standing, &words);
	sb_socket_stands(telling->socket, standing->number, standing->answer, words.data);
}

void sb_standing_tell(const struct sb_grants *grants, struct sb_socket *socket, unsigned long *told,
		      bool (*holds)(void *context, const struct sb_standing *standing),
		      void *context)
{
	struct telling telling = {socket, holds, context};

	if (!socket || *told == sb_grants_changes(grants))
		return;
	*told = sb_grants_changes(grants);
	sb_socket_standing_begin(socket);
	sb_grants_each(grants, tell, &telling);
	sb_socket_standing_end(socket);
}

/* --- taking back -------------------------------------------------------------------- */

struct search {
	unsigned long number;
	struct sb_buf *words;
	char *path; /* of an answer that a session keeps; or NULL */
	bool always;
};

static void look(void *context, const struct sb_standing *standing)
{
	struct search *search = context;

	if (standing->number != search->number)
		return;
	sb_standing_words(standing, search->words);
	search->always = standing->answer == SB_ANSWER_ALWAYS;
	if (standing->answer != SB_ANSWER_ONCE && !search->path)
		search->path = strdup(standing->path);
}

int sb_override_take_back(const struct sb_override *override, unsigned long number,
			  struct sb_buf *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf words = SB_BUF(8 * PATH_MAX);
	struct search search = {.number = number, .words = &words};
	SB_AUTO_FREE char *path = NULL;
	int status = SB_OK;

	sb_grants_each(override->grants, look, &search);
	path = search.path;
	if (!sb_grants_take_back(override->grants, number))
		return sb_fail(err, SB_E_MISSING, 0, "no answer has the number %lu", number);
	if (override->session && path)
		status = sb_session_drop(override->session, path, err);
	sb_buf_printf(out, "taken back: %s", words.data);
	if (search.always)
		sb_buf_printf(out, "; later runs have it: %s",
			      path && path[0] != '/' ? "--edit" : "--remove-path");
	return status;
}

/* --- adding -------------------------------------------------------------------------- */

/* One answer of those that a rule is made of. */
struct part {
	enum sb_op op;
	enum sb_answer answer; /* DIRECTORY: everything in path; DENY: path */
};

/* A yes and a no are only for what would be asked: the policy of a run never changes. */
static int check(const struct sb_override *override, const struct part *part, const char *path,
		 struct sb_error *err)
{
	struct sb_decision decision = sb_decide(override->policy, part->op, path);

	if (part->answer == SB_ANSWER_DENY && decision.verdict == SB_ALLOW)
		return sb_fail(err, SB_E_CONFLICT, 0,
			       "the run's rules let it %s '%s', and they do not change any more",
			       part->op == SB_READ ? "read" : "change", path);
	if (part->answer != SB_ANSWER_DENY && decision.verdict == SB_DENY)
		return sb_fail(err, SB_E_CONFLICT, 0, "'%s' stays closed: %s", path,
			       decision.rule ? decision.rule->origin : "a rule denies it");
	return SB_OK;
}

/* As if a question had been answered so: by the directory that holds the name. */
static int remember(const struct sb_override *override, const struct part *part, const char *path,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *name = part->answer == SB_ANSWER_DENY ? strdup(path)
								 : sb_path_join(path, ".");
	SB_AUTO_FREE char *directory = name ? sb_path_parent(name) : NULL;
	struct sb_wish wish = {.op = part->op,
			       .path = name,
			       .decision = sb_decide(override->policy, part->op, path)};
	SB_AUTO_FD int fd = -1;
	int status;

	if (!directory)
		return sb_no_memory(err);
	if (wish.decision.verdict == SB_ALLOW && override->bounded)
		wish.decision = (struct sb_decision){.verdict = SB_ASK};
	if (wish.decision.verdict != SB_ASK)
		return SB_OK; /* as it is already */
	fd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot use '%s'", path);
	wish.directory = fd;
	wish.name = strrchr(name, '/') + 1;
	status = sb_grants_remember(override->grants, &wish, part->answer, err);
	if (status == SB_OK && override->keeps && override->session)
		status = sb_session_keep(override->session, &wish, part->answer, err);
	return status;
}

/*
 * SECURITY: a rule for a directory opens no name that was to be asked about one by one.
 *
 * Danger: "write ~/.config/autostart", typed for one file, lets the run plant what every login
 * starts.
 * Price: such names are questions.  (Beneath a directory that is open they are anyway: grants.h.)
 * Held by: tests/cli/watch.py
 */
static int check_guarded(const struct sb_override *override, const char *path, struct sb_error *err)
{
	/* the home directory, and what holds it, are not opened at all: grants.c */
	bool looks = override->guard && !sb_path_within(path, override->home->home);
	const struct sb_guard_row *row = looks ? sb_guard_row_in(override->guard, path) : NULL;

	return row ? sb_fail(err, SB_E_CONFLICT, 0,
			     "'%s' is asked about name by name: %s obeys what is there", path,
			     row->who)
		   : SB_OK;
}

static int add(const struct sb_override *override, const struct sb_access *access, const char *path,
	       struct sb_error *err)
{
	static const struct part writes[] = {{SB_READ, SB_ANSWER_DIRECTORY},
					     {SB_MODIFY, SB_ANSWER_DIRECTORY}};
	static const struct part reads[] = {{SB_READ, SB_ANSWER_DIRECTORY},
					    {SB_MODIFY, SB_ANSWER_DENY}};
	static const struct part denies[] = {{SB_READ, SB_ANSWER_DENY},
					     {SB_MODIFY, SB_ANSWER_DENY}};
	const struct part *parts = sb_access_equal(access, &sb_access_write)  ? writes
				   : sb_access_equal(access, &sb_access_read) ? reads
				   : sb_access_equal(access, &sb_access_deny) ? denies
									      : NULL;
	int status = SB_OK;

	if (!parts || strcmp(path, "/") == 0)
		return sb_fail(err, SB_E_INVALID, 0,
			       "for a run: 'write', 'read' or 'deny', and a path");
	if (parts == writes)
		status = check_guarded(override, path, err);
	for (size_t i = 0; i < 2 && status == SB_OK; i++)
		status = check(override, &parts[i], path, err);
	for (size_t i = 0; i < 2 && status == SB_OK; i++)
		status = remember(override, &parts[i], path, err);
	return status;
}

/* One host and port, as an answer to the question about it would be. */
static int add_host(const struct sb_override *override, const struct sb_line *line,
		    struct sb_buf *out, struct sb_error *err)
{
	enum sb_answer answer = line->value == SB_DENY ? SB_ANSWER_DENY : SB_ANSWER_DIRECTORY;
	struct sb_host_wish wish = {.process = 0};
	char text[SB_PEER_TEXT_SIZE];
	enum sb_verdict verdict;
	int status = sb_peer_parse(line->text, &wish.peer, err);

	if (status == SB_OK && line->value == SB_ASK)
		status = sb_fail(err, SB_E_INVALID, 0,
				 "for a run: 'connect' or 'deny connect', and a host");
	if (status != SB_OK)
		return status;
	sb_peer_print(&wish.peer, text);
	verdict = sb_decide_connect(override->policy, &wish.peer).verdict;
	if (verdict == SB_ALLOW && answer == SB_ANSWER_DENY)
		return sb_fail(err, SB_E_CONFLICT, 0,
			       "the run's rules allow '%s', and they do not change any more", text);
	if (verdict == SB_DENY && answer != SB_ANSWER_DENY)
		return sb_fail(err, SB_E_CONFLICT, 0, "'%s' stays closed: a rule denies it", text);
	if (verdict == SB_ASK)
		status = sb_grants_remember_host(override->grants, &wish, answer, err);
	if (status == SB_OK && verdict == SB_ASK && override->session && override->keeps)
		status = sb_session_keep_host(override->session, &wish, answer, err);
	if (status == SB_OK)
		sb_buf_printf(out, "%s%sconnect %s",
			      verdict == SB_ASK ? "added for this run: "
						: "the run's rules say so already: ",
			      answer == SB_ANSWER_DENY ? "deny " : "", text);
	return status;
}

int sb_override_add(const struct sb_override *override, const char *text, struct sb_buf *out,
		    struct sb_error *err)
{
	SB_AUTO(sb_resolved_done) struct sb_resolved resolved = {0};
	SB_AUTO(sb_line_done) struct sb_line line = {0};
	unsigned long before = sb_grants_changes(override->grants);
	int status = sb_line_parse(text, strlen(text), &line, err);

	if (status == SB_OK && line.kind == SB_LINE_CONNECT)
		return add_host(override, &line, out, err);
	if (status == SB_OK && (line.kind != SB_LINE_RULE || line.fast || line.tightens))
		status = sb_fail(err, SB_E_INVALID, 0, "not a rule like 'write DIRECTORY'");
	if (status == SB_OK)
		status = sb_rule_resolve(&(struct sb_rule_base){.directory = override->home->cwd,
								.home = override->home->home,
								.may_be_literal = true},
					 line.text, &resolved, err);
	if (status == SB_OK && (resolved.is_glob || !resolved.path))
		status = sb_fail(err, SB_E_INVALID, 0, "no wildcards for a run");
	if (status == SB_OK && resolved.missing)
		status = sb_fail(err, SB_E_MISSING, resolved.missing, "cannot use '%s'",
				 resolved.path);
	if (status == SB_OK)
		status = add(override, &line.access, resolved.path, err);
	if (status == SB_OK) {
		sb_buf_puts(out, sb_grants_changes(override->grants) == before
					 ? "the run's rules say so already: "
					 : "added for this run: ");
		sb_access_print(&line.access, out);
		sb_buf_putc(out, ' ');
		sb_escape_name(out, resolved.path, strlen(resolved.path));
	}
	return status;
}
