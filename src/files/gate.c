/*
 * gate.c - may this call do that to this place?  The only way to an act.
 *
 * The judge decides (judge/judge.h), with the bounds that file tools have.  Here its answer becomes a
 * yes, a question or an error, and is recorded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/escape.h"
#include "files/covered.h"
#include "files/find_source.h"
#include "files/finding.h"
#include "files/mapped.h"
#include "files/view.h"
#include "path/path.h"
#include "policy/fast.h"

static const char *const verbs[SB_OP_COUNT] = {"read", "change", "create", "remove"};

static const char *path_of(const struct sb_intent *wish, const struct sb_place *place)
{
	return wish->beneath ? wish->beneath : place->path;
}

/* --- grounds ------------------------------------------------------------------------------------ */

/* All of it is in sight: rules that are hidden from the agent hold for it all the same. */
static const char *ignoring_root(void *context, const char *path, bool directory)
{
	const struct sb_files *view = context;
	const struct sb_root *root = sb_files_root_of(view, path);
	const char *rest = root ? path + (root->path[1] ? strlen(root->path) : 0) : "";
	bool ignored = true;
	struct sb_find find;

	rest += *rest == '/';
	if (!*rest)
		return NULL;
	sb_find_root(view, root, &find);
	if (sb_ignore_check(&find.source, rest, directory, NULL, &ignored, NULL) == SB_OK &&
	    !ignored)
		return NULL;
	return root->path; /* what cannot be told counts as ignored */
}

/* What lies in memory is run by nobody until it is written to a disk. */
static int make_guard(const struct sb_files *view, struct sb_guard **out,
		      struct sb_files_error *err)
{
	const struct sb_guard_home home = {.home = view->options.home,
					   .git_settings = view->options.git_settings,
					   .homes = {.config = view->options.config_home,
						     .data = view->options.data_home,
						     .cache = view->options.cache_home,
						     .state = view->options.state_home,
						     .obeyed = view->options.obeyed,
						     .account = view->options.account_home}};
	SB_AUTO_FREE const char **projects = NULL;
	SB_AUTO_FREE char(*real)[PATH_MAX] = NULL;
	struct sb_error why;

	if (view->backend->in_memory)
		return 0;
	projects = calloc(view->root_count + 1, sizeof *projects);
	real = calloc(view->root_count + 1, sizeof *real);
	if (!projects || !real)
		return sb_refuse_memory(err);
	for (size_t i = 0, count = 0; i < view->root_count; i++)
		if (!view->backend->ops->real || view->roots[i].path[1])
			projects[count++] = sb_files_real(view, view->roots[i].path, real[i], NULL);
	if (sb_grounds_guard(view->policy, projects, &home, out, &why) != SB_OK)
		return sb_refuse(err, SB_FILES_SANDBOX_UNAVAILABLE, why.sys_errno,
				 "cannot guard names in the project: %s", why.message);
	return 0;
}

int sb_gate_open(struct sb_files *view, struct sb_files_error *err)
{
	const struct sb_files_options *options = &view->options;
	struct sb_guard *guard = NULL;
	int status = make_guard(view, &guard, err);

	if (status < 0)
		return status;
	/* only now: a view that goes on after this failed keeps the guard it had */
	sb_gate_close(view);
	view->guard = guard;
	view->grounds = (struct sb_grounds){
		.policy = view->policy,
		.guard = guard,
		.view = sb_files_is_mapped(view),
		.zones = sb_files_is_mapped(view) ? sb_files_mapped_roots(view->backend) : NULL,
		.ignored = {.on = options->ignored == SB_FILES_ASK,
			    .all_old = true,
			    .off_disk = view->backend->in_memory ? ignoring_root : NULL,
			    .context = view},
		.bounds = {.roots = true,
			   .mounts = options->mounts == SB_FILES_ASK,
			   .hard_links = options->hard_links == SB_FILES_ASK,
			   .unheld = true},
	};
	return 0;
}

void sb_gate_close(struct sb_files *view)
{
	sb_guard_free(view->guard);
	view->guard = NULL;
}

/* --- a wish as a case --------------------------------------------------------------------------- */

/* A name is judged by what it is: a socket is a service, and a FIFO none. */
static mode_t mode_of(const struct sb_facts *facts)
{
	static const mode_t types[] = {S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO};
	bool special = facts->type == SB_FILES_OTHER && facts->special;

	return (special ? facts->special : types[facts->type]) | facts->mode;
}

/* real: room for the path that rules are about. */
static struct sb_site site_of(const struct sb_files *view, const struct sb_place *place,
			      const char *path, char real[PATH_MAX])
{
	const struct sb_root *root = sb_files_root_of(view, path);
	const struct sb_facts *facts = &place->facts;
	const struct sb_rule *bound;
	const char *meant = sb_files_real(view, path, real, &bound);

	return (struct sb_site){
		.directory = place->directory,
		.object = place->object,
		.name = place->name,
		.path = meant,
		.bound = bound,
		.looked = true,
		.mode = place->exists ? mode_of(facts) : 0,
		.outside = !root,
		.other_mount = root && facts->mount != root->mount,
		.has_more_names = place->exists && facts->type == SB_FILES_FILE && facts->links > 1,
	};
}

/* A place with a name in a directory: others cannot be acted on anyway. */
static bool is_named(const struct sb_place *place)
{
	return place->directory >= 0 && place->name[0] && !place->error;
}

/* Something is written there; real: room for its path. */
static struct sb_case write_to(const struct sb_files *view, const struct sb_place *place,
			       char real[PATH_MAX])
{
	return (struct sb_case){.deed = SB_DEED_WRITE,
				.site = site_of(view, place, place->path, real),
				.rules_only = !is_named(place)};
}

static void judge(const struct sb_files *view, const struct sb_intent *wish,
		  const struct sb_place *place, struct sb_judged *out)
{
	bool moves = wish->deed == SB_DEED_RENAME, away = wish->op == SB_DELETE;
	char real[2][PATH_MAX];
	struct sb_site here = site_of(view, place, path_of(wish, place), real[0]);
	struct sb_case what = {.deed = wish->deed,
			       .site = here,
			       .text = wish->leads_to,
			       .tree = wish->tree,
			       .ignored_too = wish->ignored_too};
	struct sb_judgement judgement;

	/* a name whose directory is still to be made is judged when that is there */
	what.rules_only = wish->beneath || !is_named(place) || (moves && !is_named(wish->other)) ||
			  (wish->deed == SB_DEED_WRITE && wish->content_later);
	if (wish->deed == SB_DEED_LOOK) {
		sb_judge_op(&view->grounds, wish->op, &what, out);
		return;
	}
	if (moves)
		what.target = site_of(view, wish->other, wish->other->path, real[1]);
	if (moves && !away) {
		what.site = what.target;
		what.target = here;
	}
	sb_judge(&view->grounds, &what, &judgement);
	*out = judgement.all[moves && !away];
}

static void look(const struct sb_files *view, const struct sb_intent *wish,
		 const struct sb_place *place, struct sb_finding *out)
{
	struct sb_judged judged;

	judge(view, wish, place, &judged);
	judged.site = NULL; /* it was judge()'s */
	sb_finding_of(view, &judged, path_of(wish, place), out);
}

/* --- answers ------------------------------------------------------------------------------------ */

static void record(const struct sb_job *job, const struct sb_intent *wish,
		   const struct sb_place *place, const struct sb_finding *finding, bool done)
{
	const struct sb_files_options *options = &job->view->options;
	char real[2][PATH_MAX];
	struct sb_files_event event = {
		.size = sizeof event,
		.call = job->call,
		.op = wish->op,
		.why = finding->why,
		.verdict = finding->verdict,
		.done = done,
		.path = sb_files_real(job->view, path_of(wish, place), real[0], NULL),
		.given = place->given,
		.root = sb_files_real(
			job->view, finding->root ? finding->root->path : job->view->roots[0].path,
			real[1], NULL),
		.rule = finding->rule,
		.tool = job->caller ? job->caller->tool : NULL,
		.caller = job->caller,
	};

	if (options->audit)
		options->audit(options->context, &event);
}

/* What everybody may know about a refusal or an open question. */
static int fill(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place,
		const struct sb_finding *finding, bool violation)
{
	struct sb_files_error *err = job->err;

	if (!err)
		return -SB_FILES_SYSTEM;
	err->violation = violation;
	err->op = wish->op;
	err->why = finding->why;
	memcpy(err->path, path_of(wish, place), strlen(path_of(wish, place)) + 1);
	snprintf(err->given, sizeof err->given, "%s", place->given ? place->given : "");
	snprintf(err->root, sizeof err->root, "%s", job->view->roots[0].path);
	snprintf(err->rule, sizeof err->rule, "%s",
		 finding->rule && (finding->bound || !sb_files_is_mapped(job->view))
			 ? finding->rule->origin
			 : "");
	return -(int)err->code;
}

/* What a call is about that stops before it can do it: what is not there is only looked for. */
static enum sb_op meant_op(const struct sb_job *job, const struct sb_intent *wish,
			   const struct sb_place *place)
{
	static const enum sb_op ops[] = {[SB_FILES_WRITE] = SB_CREATE,
					 [SB_FILES_EDIT] = SB_MODIFY,
					 [SB_FILES_DELETE] = SB_DELETE,
					 [SB_FILES_MKDIR] = SB_CREATE};

	return place->exists || wish->op != SB_READ || job->call >= sizeof ops / sizeof ops[0]
		       ? wish->op
		       : ops[job->call];
}

/* A command's own temp directory is no place that a tool could reach, nor the user copy from. */
static void advise_outside(const struct sb_job *job, const struct sb_intent *wish,
			   const struct sb_place *place)
{
	const char *path = path_of(wish, place);
	const struct sb_rule *rule = sb_decide(job->view->policy, SB_MODIFY, path).rule;

	if (job->err)
		job->err->allowable = !place->facts.procfs && place->error != EXDEV;
	if (place->facts.procfs || place->error == EXDEV)
		sb_advise(job->err,
			  "Nothing in /proc is opened by file tools, and no link there is "
			  "followed. Name the file itself, with a path relative to the "
			  "project root, as \"src/file.ts\".");
	else if (rule && rule->temp && sb_policy_tmp(job->view->policy) == SB_TMP_PRIVATE)
		sb_advise(job->err,
			  "Use a path relative to the project root, as \"src/file.ts\". "
			  "Each command has a temp directory of its own, which is empty when "
			  "it starts and gone when it ends: what is needed afterwards it "
			  "has to write into the project.");
}

static int refuse(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place,
		  const struct sb_finding *finding, enum sb_files_code code, const char *who)
{
	struct sb_intent meant = *wish;
	char reason[SB_REASON];

	if (code == SB_FILES_PATH_OUTSIDE_PROJECT) {
		meant.op = meant_op(job, wish, place);
		sb_refuse_outside(job->err, meant.op, place->given, path_of(wish, place),
				  job->view->roots[0].path);
		advise_outside(job, wish, place);
	} else {
		sb_refuse(job->err, code, 0, "%s %s '%s': %s", who, verbs[wish->op],
			  path_of(wish, place), sb_finding_line(job->view, finding, reason));
	}
	fill(job, &meant, place, finding, true);
	record(job, &meant, place, finding, false);
	return -(int)code;
}

static int refuse_denied(struct sb_job *job, const struct sb_intent *wish,
			 const struct sb_place *place, const struct sb_finding *finding)
{
	bool readable = wish->op != SB_READ && !sb_gate_hides(job->view, path_of(wish, place));
	const struct sb_rule *rule = finding->rule;

	if (finding->bound && rule->capped) {
		refuse(job, wish, place, finding, SB_FILES_READ_ONLY, "may not");
		if (job->err)
			sb_escape_line(job->err->person, sizeof job->err->person, rule->origin);
		return -SB_FILES_READ_ONLY;
	}
	if (finding->bound) /* this operation alone */
		readable = false;
	refuse(job, wish, place, finding, readable ? SB_FILES_READ_ONLY : SB_FILES_BLOCKED,
	       "may not");
	if (!readable && rule && rule->tier == SB_TIER_BUILTIN && !finding->bound)
		sb_advise(job->err,
			  "sandbash keeps this path from agents, unless a rule of the user "
			  "opens it. Do not retry and do not look for a way around it; "
			  "tell the user if it is needed.");
	else if (rule && rule->capped)
		sb_advise(job->err, "Nothing is changed in this session: its mode is read-only. Do "
				    "not retry; tell the user if it is needed.");
	return readable ? -SB_FILES_READ_ONLY : -SB_FILES_BLOCKED;
}

/* What a yes for the directory would mean; none for what is asked about one by one. */
static char *directory_of(const struct sb_job *job, const struct sb_finding *finding,
			  const struct sb_intent *wish, const struct sb_place *place)
{
	bool own_rule = finding->rule && finding->rule->tier != SB_TIER_BUILTIN;

	if (finding->bound) /* all of it, by its real name */
		return strdup(finding->rule->pattern);
	if (sb_files_is_mapped(job->view))
		return NULL;
	if (finding->by_itself || finding->why == SB_FILES_WHY_GUARDED ||
	    (finding->why == SB_FILES_WHY_RULE && !own_rule))
		return NULL;
	if (place->exists && place->facts.type == SB_FILES_DIRECTORY)
		return strdup(place->path);
	return sb_path_parent(path_of(wish, place));
}

/* Bytes were asked about before they land: then that is not asked again. */
static int keep_answer(struct sb_job *job, const struct sb_intent *wish,
		       const struct sb_place *place, const struct sb_finding *finding)
{
	bool bytes = finding->why == SB_FILES_WHY_GUARDED && wish->deed == SB_DEED_WRITE;

	if (!bytes || !job->said ||
	    sb_covered_add_bytes(job->said, place->path, wish->content, wish->content_length) == 0)
		return 0;
	return sb_refuse_memory(job->err);
}

/* --- a directory with all that is in it ---------------------------------------------------------- */

/* True: it was sealed just now, so that what is shown has to be looked at anew. */
static bool seal(struct sb_job *job)
{
	struct sb_whole *whole = job->whole;

	if (!whole || whole->sealed || whole->place->object < 0 || job->view->backend->in_memory ||
	    whole->place->facts.type != SB_FILES_DIRECTORY)
		return false;
	sb_seal_take(whole->place->object, ".", NULL, &whole->seal);
	whole->sealed = true;
	return true;
}

/* Is it about all of it, not about one thing in it? */
static const struct sb_seal *seal_of(const struct sb_job *job, const struct sb_intent *wish,
				     const struct sb_place *place)
{
	const struct sb_whole *whole = job->whole;

	return whole && whole->sealed && (place == whole->place || wish->other == whole->place)
		       ? &whole->seal
		       : NULL;
}

static const char *describe(const struct sb_job *job, const struct sb_seal *seal, char *out,
			    size_t size)
{
	char notes[SB_SEAL_NOTES][SB_SEAL_NOTE], words[SB_SEAL_WORDS];
	char links[SB_SEAL_LINKS + 1][SB_SEAL_LINK + sizeof SB_SEAL_LINK_SAYS];
	size_t count = sb_seal_notes(seal, notes), at = 0;
	size_t leading = job->call == SB_FILES_DELETE ? 0 : sb_seal_links(seal, links);

	for (size_t i = 0; i < leading && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s\n", links[i]);
	if (at < size)
		at += (size_t)snprintf(out + at, size - at, SB_SEAL_SAYS,
				       job->call == SB_FILES_DELETE ? "is deleted"
				       : job->call == SB_FILES_COPY ? "is copied"
								    : "comes along",
				       sb_seal_words(seal, words));
	for (size_t i = 0; i < count && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "\n%s", notes[i]);
	return out;
}

int sb_gate_entry(struct sb_job *job, const struct sb_place *entry, const struct sb_stream *stream,
		  const char *data, size_t length, const char *leads_to)
{
	const struct sb_whole *whole = job->whole;
	const char *path;
	bool same;

	if (!whole || !whole->sealed || !whole->seal.whole)
		return 0;
	path = entry->path + strlen(whole->place->path);
	path += *path == '/';
	if (leads_to)
		same = sb_seal_has_link(&whole->seal, path, entry->object, leads_to);
	else if (stream)
		same = sb_seal_has_file(&whole->seal, path, stream->fd, data, length);
	else
		same = sb_seal_has_node(&whole->seal, path, entry->object);
	return same ? 0 : sb_refuse_errno(job->err, ESTALE, "copy", entry->path);
}

static int ask(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place,
	       const struct sb_finding *finding)
{
	const struct sb_files_options *options = &job->view->options;
	const struct sb_seal *sealed = seal_of(job, wish, place);
	char whole[sizeof SB_SEAL_SAYS + SB_SEAL_WORDS + SB_SEAL_NOTES * (SB_SEAL_NOTE + 1) +
		   (SB_SEAL_LINKS + 1) * (SB_SEAL_LINK + sizeof SB_SEAL_LINK_SAYS)];
	char real[2][PATH_MAX];
	SB_AUTO_FREE char *directory = directory_of(job, finding, wish, place);
	struct sb_files_question question = {
		.size = sizeof question,
		.call = job->call,
		.op = wish->op,
		.why = finding->why,
		.path = sb_files_real(job->view, path_of(wish, place), real[0], NULL),
		.root = finding->root ? finding->root->path : NULL,
		.rule = finding->rule,
		.reason = finding->reason,
		.directory = directory,
		.content = wish->content,
		.content_length = wish->content_length,
		.caller = job->caller,
		.found = finding->found[0] ? finding->found : NULL,
		.other = wish->other ? sb_files_real(job->view, wish->other->path, real[1], NULL)
				     : NULL,
		.shown = path_of(wish, place),
		.old = wish->old,
		.old_length = wish->old_length,
		.whole = sealed ? describe(job, sealed, whole, sizeof whole) : NULL,
		.seal = !sealed         ? NULL
			: sealed->young ? "it changes at this moment"
					: sealed->sum,
		.leads_to = wish->leads_to,
		.by_itself = finding->by_itself,
	};
	char reason[SB_REASON];

	if (job->said && !place->ahead && finding->why == SB_FILES_WHY_GUARDED &&
	    wish->deed == SB_DEED_WRITE &&
	    sb_covered_has_bytes(job->said, place->path, wish->content, wish->content_length))
		return 0;
	switch (options->consent ? options->consent(options->context, &question)
				 : SB_FILES_ANSWER_NOBODY) {
	case SB_FILES_ANSWER_NOBODY:
		return refuse(job, wish, place, finding,
			      finding->why == SB_FILES_WHY_OUTSIDE ? SB_FILES_PATH_OUTSIDE_PROJECT
								   : SB_FILES_NEEDS_CONSENT,
			      "nobody can be asked whether to");
	case SB_FILES_ANSWER_YES:
		record(job, wish, place, finding, true);
		if (place->ahead) /* it is looked at again when it is made */
			return keep_answer(job, wish, place, finding);
		/* the answer was about this path: has what we hold still got it? */
		if (job->view->backend->ops->confirm(job->view->backend, place) < 0)
			return sb_refuse_errno(job->err, ESTALE, verbs[wish->op],
					       path_of(wish, place));
		return 0;
	case SB_FILES_ANSWER_LATER:
		sb_refuse(job->err, SB_FILES_NEEDS_CONSENT, 0,
			  "to %s '%s' is a question to the user: %s", verbs[wish->op],
			  path_of(wish, place), sb_finding_line(job->view, finding, reason));
		fill(job, wish, place, finding, false);
		return -SB_FILES_NEEDS_CONSENT;
	default:
		return refuse(job, wish, place, finding, SB_FILES_DENIED, "somebody refused to");
	}
}

static int refuse_outside(struct sb_job *job, const struct sb_intent *wish,
			  const struct sb_place *place)
{
	const struct sb_finding finding = {.verdict = SB_DENY,
					   .why = SB_FILES_WHY_OUTSIDE,
					   .root = sb_files_root_of(job->view, place->path)};

	return refuse(job, wish, place, &finding, SB_FILES_PATH_OUTSIDE_PROJECT, "may not");
}

int sb_gate_outside(struct sb_job *job, const struct sb_place *place)
{
	static const enum sb_op ops[] = {
		[SB_FILES_WRITE] = SB_CREATE,  [SB_FILES_EDIT] = SB_MODIFY,
		[SB_FILES_DELETE] = SB_DELETE, [SB_FILES_MOVE] = SB_CREATE,
		[SB_FILES_COPY] = SB_CREATE,   [SB_FILES_MKDIR] = SB_CREATE};
	const struct sb_intent wish = {.op = job->call < sizeof ops / sizeof ops[0] ? ops[job->call]
										    : SB_READ};

	return refuse_outside(job, &wish, place);
}

void sb_gate_allowed(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place)
{
	const struct sb_finding finding = {
		.verdict = SB_ALLOW, .root = sb_files_root_of(job->view, path_of(wish, place))};

	if (job->view->options.audit_allowed)
		record(job, wish, place, &finding, true);
}

int sb_gate(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place)
{
	struct sb_finding finding;

	/* /proc leads into other processes, our own first; what lies there are no files */
	if (place->facts.procfs || place->error == EXDEV)
		return refuse_outside(job, wish, place);
	look(job->view, wish, place, &finding);
	if (finding.verdict == SB_ASK && seal(job))
		look(job->view, wish, place, &finding);
	switch (finding.verdict) {
	case SB_ALLOW:
		sb_gate_allowed(job, wish, place);
		return 0;
	case SB_ASK:
		return ask(job, wish, place, &finding);
	default:
		return refuse_denied(job, wish, place, &finding);
	}
}

int sb_gate_content(struct sb_job *job, const struct sb_place *place, const struct sb_place *from,
		    struct sb_guard_bytes old, struct sb_guard_bytes new)
{
	const struct sb_files *view = job->view;
	const struct sb_intent wish = {.op = place->exists ? SB_MODIFY : SB_CREATE,
				       .deed = SB_DEED_WRITE,
				       .other = from,
				       .content = new.bytes,
				       .content_length = new.length,
				       .old = old.bytes,
				       .old_length = old.length};
	char real[PATH_MAX];
	const struct sb_case what = write_to(view, place, real);
	struct sb_judgement judgement;
	struct sb_finding finding;

	sb_judge(&view->grounds, &what, &judgement);
	if (!judgement.lands)
		return 0;
	if (new.bytes)
		sb_judge_bytes(&view->grounds, &judgement, old, new);
	/* the rules were asked about the name before */
	if (new.bytes && judgement.lands->guard.verdict == SB_GUARD_PLAIN) {
		if (judgement.note[0] && job->caller && job->caller->size >= sizeof *job->caller &&
		    job->caller->note)
			job->caller->note(job->caller->note_context, judgement.note);
		return 0;
	}
	judgement.lands->decision.verdict = SB_ASK;
	judgement.lands->why = SB_WHY_GUARDED;
	sb_finding_of(view, judgement.lands, place->path, &finding);
	return ask(job, &wish, place, &finding);
}

bool sb_gate_checks(const struct sb_files *view, const struct sb_place *place)
{
	char real[PATH_MAX];
	const struct sb_case what = write_to(view, place, real);
	struct sb_judgement judgement;

	sb_judge(&view->grounds, &what, &judgement);
	return judgement.lands != NULL;
}

bool sb_gate_crosses(const struct sb_files *view, const struct sb_place *from,
		     const struct sb_place *to)
{
	char real[2][PATH_MAX];

	return sb_fast_crosses(view->policy, sb_files_real(view, from->path, real[0], NULL),
			       sb_files_real(view, to->path, real[1], NULL));
}

enum sb_verdict sb_gate_read(const struct sb_files *view, const char *path)
{
	const struct sb_rule *bound;
	char real[PATH_MAX];
	enum sb_verdict verdict =
		sb_judge_read(&view->grounds, sb_files_real(view, path, real, &bound));

	return bound && bound->access.verdict[SB_READ] == SB_DENY ? SB_DENY : verdict;
}

bool sb_gate_hides(const struct sb_files *view, const char *path)
{
	return sb_gate_read(view, path) == SB_DENY;
}

struct sb_access sb_gate_access(const struct sb_files *view, const struct sb_place *place)
{
	char real[PATH_MAX];
	const struct sb_case what = write_to(view, place, real);
	struct sb_access access = {0};
	struct sb_judged judged;

	for (int op = 0; op < SB_OP_COUNT; op++) {
		sb_judge_op(&view->grounds, (enum sb_op)op, &what, &judged);
		access.verdict[op] = (unsigned char)judged.decision.verdict;
	}
	return access;
}

static enum sb_verdict say_why(struct sb_job *job, const struct sb_intent *wish,
			       const struct sb_place *place, const struct sb_finding *finding)
{
	char reason[SB_REASON];

	if (finding->verdict != SB_ALLOW) {
		sb_refuse(job->err,
			  finding->verdict == SB_DENY ? SB_FILES_BLOCKED : SB_FILES_NEEDS_CONSENT,
			  0, "%s to %s '%s': %s", sb_verdict_name(finding->verdict),
			  verbs[wish->op], path_of(wish, place),
			  sb_finding_line(job->view, finding, reason));
		fill(job, wish, place, finding, false);
	}
	return finding->verdict;
}

/* Of a name whose directories are still to be made: a site where those will be.  0 or an errno. */
static int look_beneath(const struct sb_files *view, const struct sb_place *place, char *path,
			char real[PATH_MAX], struct sb_site *out)
{
	int status = sb_place_last(place, path);

	if (status < 0)
		return status;
	*out = site_of(view, place, path, real);
	out->name = strrchr(path, '/') + 1;
	/* what lies in memory has no descriptors, and no guard either */
	out->directory = view->guard ? sb_site_holder(out->path) : -1;
	return 0;
}

enum sb_verdict sb_gate_tell(struct sb_job *job, enum sb_op op, const struct sb_place *place,
			     bool *out_checked)
{
	struct sb_intent wish = {.op = op};
	char real[PATH_MAX];
	struct sb_case what = write_to(job->view, place, real);
	SB_AUTO_FD int holder = -1;
	char beneath[PATH_MAX];
	struct sb_judged judged;
	struct sb_finding finding;

	*out_checked = false;
	if (place->facts.procfs || place->error == EXDEV)
		return sb_gate_look(job, &wish, place);
	if (place->rest[0] && look_beneath(job->view, place, beneath, real, &what.site) == 0) {
		holder = what.site.directory;
		what.rules_only = holder < 0;
		wish.beneath = beneath;
	}
	sb_judge_op(&job->view->grounds, op, &what, &judged);
	sb_finding_of(job->view, &judged, path_of(&wish, place), &finding);
	*out_checked = finding.verdict == SB_ALLOW && judged.guard.verdict == SB_GUARD_CHECK;
	return say_why(job, &wish, place, &finding);
}

enum sb_verdict sb_gate_look(struct sb_job *job, const struct sb_intent *wish,
			     const struct sb_place *place)
{
	struct sb_finding finding = {.verdict = SB_DENY, .why = SB_FILES_WHY_OUTSIDE};

	if (!place->facts.procfs && place->error != EXDEV)
		look(job->view, wish, place, &finding);
	return say_why(job, wish, place, &finding);
}
