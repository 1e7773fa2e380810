/*
 * gate.c - may this call do that to this place?  The only way to an act.
 *
 * The policy decides (sb_decide); around it stand the bounds that hold for file tools alone.
 * All of them only add questions: none allows what a rule denies.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "files/guards.h"
#include "path/path.h"

/* What was found out about one wish. */
struct finding {
	enum sb_verdict verdict;
	enum sb_files_why why;
	const struct sb_root *root;
	const struct sb_rule *rule;
	char reason[400];
};

static const char *const verbs[SB_OP_COUNT] = {"read", "change", "create", "remove"};

static const char *path_of(const struct sb_wish *wish, const struct sb_place *place)
{
	return wish->beneath ? wish->beneath : place->path;
}

static bool is_change(enum sb_op op)
{
	return op != SB_READ;
}

static void find(struct finding *finding, enum sb_verdict verdict, enum sb_files_why why,
		 const char *reason)
{
	finding->verdict = verdict;
	finding->why = why;
	snprintf(finding->reason, sizeof finding->reason, "%s", reason);
}

/* The policy's own answer; for what moves with everything in it, the strictest beneath. */
static struct sb_decision decide(const struct sb_files *view, const struct sb_wish *wish,
				 const char *path)
{
	struct sb_decision decision = sb_decide(view->policy, wish->op, path);

	if (wish->tree) {
		struct sb_decision beneath = sb_decide_beneath(view->policy, wish->op, path);

		if (beneath.verdict > decision.verdict)
			decision = beneath;
	}
	return decision;
}

/*
 * Outside the roots a rule of the user's own may allow.  Built-in ones do not: they speak of
 * what commands need (devices, temporary directories), and let everything be read.
 */
static bool is_granted(const struct sb_decision *decision)
{
	return decision->verdict == SB_ALLOW && decision->rule &&
	       decision->rule->tier != SB_TIER_BUILTIN;
}

static const char *origin_of(const struct sb_rule *rule)
{
	const char *builtin = "built-in: ";

	return strncmp(rule->origin, builtin, strlen(builtin)) == 0 ? rule->origin + strlen(builtin)
								    : rule->origin;
}

/* Questions in order of weight: the reason that is shown is the gravest. */
static void look(const struct sb_files *view, const struct sb_wish *wish,
		 const struct sb_place *place, struct finding *out)
{
	struct sb_decision decision = decide(view, wish, path_of(wish, place));
	const struct sb_facts *facts = &place->facts;
	bool granted = is_granted(&decision), ours;

	*out = (struct finding){.verdict = SB_ALLOW, .rule = decision.rule};
	out->root = sb_files_root_of(view, path_of(wish, place));
	ours = out->root != NULL;
	if (sb_policy_mode(view->policy) == SB_MODE_DANGER_FULL_ACCESS)
		return;
	if (decision.verdict == SB_DENY && decision.rule)
		find(out, SB_DENY, SB_FILES_WHY_RULE, origin_of(decision.rule));
	else if (decision.verdict == SB_DENY)
		find(out, SB_DENY, SB_FILES_WHY_NO_RULE, "the mode is read-only");
	else if (is_change(wish->op) &&
		 sb_guards_name(view, wish, place, out->reason, sizeof out->reason))
		out->verdict = SB_ASK, out->why = SB_FILES_WHY_GUARDED;
	else if (decision.verdict == SB_ASK && decision.rule)
		find(out, SB_ASK, SB_FILES_WHY_RULE, origin_of(decision.rule));
	else if (!ours && !granted)
		find(out, SB_ASK, SB_FILES_WHY_OUTSIDE, "outside the project");
	else if (decision.verdict == SB_ASK)
		find(out, SB_ASK, SB_FILES_WHY_NO_RULE, "no rule allows it");
	else if (ours && !granted && facts->mount != out->root->mount &&
		 view->options.mounts == SB_FILES_ASK)
		find(out, SB_ASK, SB_FILES_WHY_MOUNT,
		     "on another filesystem that is mounted inside the project");
	else if (place->exists && facts->type == SB_FILES_FILE && facts->links > 1 &&
		 view->options.hard_links == SB_FILES_ASK)
		find(out, SB_ASK, SB_FILES_WHY_HARD_LINK, "the file has other names elsewhere");
	else if (ours && place->exists && (wish->op == SB_MODIFY || wish->op == SB_DELETE) &&
		 view->options.ignored == SB_FILES_ASK && !wish->ignored_too &&
		 sb_guards_ignored(view, out->root, place))
		find(out, SB_ASK, SB_FILES_WHY_IGNORED,
		     "git ignores it, so git could not bring it back");
}

static void record(const struct sb_job *job, const struct sb_wish *wish,
		   const struct sb_place *place, const struct finding *finding, bool done)
{
	const struct sb_files_options *options = &job->view->options;
	struct sb_files_event event = {
		.size = sizeof event,
		.call = job->call,
		.op = wish->op,
		.why = finding->why,
		.verdict = finding->verdict,
		.done = done,
		.path = path_of(wish, place),
		.root = finding->root ? finding->root->path : NULL,
		.rule = finding->rule,
		.tool = job->caller ? job->caller->tool : NULL,
		.caller = job->caller,
	};

	if (options->audit)
		options->audit(options->context, &event);
}

/* What everybody may know about a refusal or an open question. */
static int fill(struct sb_job *job, const struct sb_wish *wish, const struct sb_place *place,
		const struct finding *finding, bool violation)
{
	struct sb_files_error *err = job->err;

	if (!err)
		return -SB_FILES_SYSTEM;
	err->violation = violation;
	err->op = wish->op;
	err->why = finding->why;
	memcpy(err->path, path_of(wish, place), strlen(path_of(wish, place)) + 1);
	snprintf(err->rule, sizeof err->rule, "%s", finding->rule ? finding->rule->origin : "");
	return -(int)err->code;
}

static int refuse(struct sb_job *job, const struct sb_wish *wish, const struct sb_place *place,
		  const struct finding *finding, enum sb_files_code code, const char *who)
{
	sb_refuse(job->err, code, 0, "%s %s '%s': %s", who, verbs[wish->op], path_of(wish, place),
		  finding->reason);
	if (code == SB_FILES_PATH_OUTSIDE_PROJECT)
		sb_advise(job->err,
			  "Use a path inside the project '%s'%s. Do not retry this path unless the "
			  "user allows it.",
			  job->view->roots[0].path,
			  job->view->root_count > 1 ? " (or another root)" : "");
	fill(job, wish, place, finding, true);
	record(job, wish, place, finding, false);
	return -(int)code;
}

static int refuse_denied(struct sb_job *job, const struct sb_wish *wish,
			 const struct sb_place *place, const struct finding *finding)
{
	bool readable = is_change(wish->op) &&
			sb_decide(job->view->policy, SB_READ, path_of(wish, place)).verdict !=
				SB_DENY;

	return refuse(job, wish, place, finding, readable ? SB_FILES_READ_ONLY : SB_FILES_BLOCKED,
		      "may not");
}

/* What a yes for the directory would mean; none for what is asked about one by one. */
static char *directory_of(const struct finding *finding, const struct sb_wish *wish,
			  const struct sb_place *place)
{
	bool own_rule = finding->rule && finding->rule->tier != SB_TIER_BUILTIN;

	if (finding->why == SB_FILES_WHY_GUARDED ||
	    (finding->why == SB_FILES_WHY_RULE && !own_rule))
		return NULL;
	if (place->exists && place->facts.type == SB_FILES_DIRECTORY)
		return strdup(place->path);
	return sb_path_parent(path_of(wish, place));
}

static int ask(struct sb_job *job, const struct sb_wish *wish, const struct sb_place *place,
	       const struct finding *finding)
{
	const struct sb_files_options *options = &job->view->options;
	SB_AUTO_FREE char *directory = directory_of(finding, wish, place);
	struct sb_files_question question = {
		.size = sizeof question,
		.call = job->call,
		.op = wish->op,
		.why = finding->why,
		.path = path_of(wish, place),
		.root = finding->root ? finding->root->path : NULL,
		.rule = finding->rule,
		.reason = finding->reason,
		.directory = directory,
		.content = wish->content,
		.content_length = wish->content_length,
		.caller = job->caller,
	};

	if (!options->consent)
		return refuse(job, wish, place, finding,
			      finding->why == SB_FILES_WHY_OUTSIDE ? SB_FILES_PATH_OUTSIDE_PROJECT
								   : SB_FILES_NEEDS_CONSENT,
			      "nobody can be asked whether to");
	switch (options->consent(options->context, &question)) {
	case SB_FILES_ANSWER_YES:
		record(job, wish, place, finding, true);
		/* the answer was about this path: has what we hold still got it? */
		if (job->view->backend->ops->confirm(job->view->backend, place) < 0)
			return sb_refuse_errno(job->err, ESTALE, verbs[wish->op],
					       path_of(wish, place));
		return 0;
	case SB_FILES_ANSWER_LATER:
		sb_refuse(job->err, SB_FILES_NEEDS_CONSENT, 0,
			  "to %s '%s' is a question to the user: %s", verbs[wish->op],
			  path_of(wish, place), finding->reason);
		fill(job, wish, place, finding, false);
		return -SB_FILES_NEEDS_CONSENT;
	default:
		return refuse(job, wish, place, finding, SB_FILES_DENIED, "somebody refused to");
	}
}

/* /proc leads into other processes, our own first; what lies there are no files. */
static int refuse_procfs(struct sb_job *job, const struct sb_wish *wish,
			 const struct sb_place *place)
{
	struct finding finding = {.verdict = SB_DENY, .why = SB_FILES_WHY_OUTSIDE};

	finding.root = sb_files_root_of(job->view, place->path);
	find(&finding, SB_DENY, SB_FILES_WHY_OUTSIDE, "/proc is no place for file tools");
	return refuse(job, wish, place, &finding, SB_FILES_PATH_OUTSIDE_PROJECT, "may not");
}

int sb_gate(struct sb_job *job, const struct sb_wish *wish, const struct sb_place *place)
{
	struct finding finding;

	if (place->facts.procfs || place->error == EXDEV)
		return refuse_procfs(job, wish, place);
	look(job->view, wish, place, &finding);
	switch (finding.verdict) {
	case SB_ALLOW:
		return 0;
	case SB_ASK:
		return ask(job, wish, place, &finding);
	default:
		return refuse_denied(job, wish, place, &finding);
	}
}

int sb_gate_content(struct sb_job *job, const struct sb_place *place, const char *old,
		    size_t old_length, const char *data, size_t length)
{
	struct sb_wish wish = {.op = place->exists ? SB_MODIFY : SB_CREATE,
			       .act = SB_ACT_PUT_FILE,
			       .content = data,
			       .content_length = length};
	struct finding finding = {.verdict = SB_ASK, .why = SB_FILES_WHY_GUARDED};

	if (sb_policy_mode(job->view->policy) == SB_MODE_DANGER_FULL_ACCESS ||
	    !sb_guards_content(job->view, place, old, old_length, data, length, finding.reason,
			       sizeof finding.reason))
		return 0;
	finding.root = sb_files_root_of(job->view, place->path);
	return ask(job, &wish, place, &finding);
}

bool sb_gate_hides(const struct sb_files *view, const char *path)
{
	return sb_decide(view->policy, SB_READ, path).verdict == SB_DENY;
}

enum sb_verdict sb_gate_look(struct sb_job *job, const struct sb_wish *wish,
			     const struct sb_place *place)
{
	struct finding finding = {.verdict = SB_DENY, .why = SB_FILES_WHY_OUTSIDE};

	if (!place->facts.procfs && place->error != EXDEV)
		look(job->view, wish, place, &finding);
	if (finding.verdict != SB_ALLOW) {
		sb_refuse(job->err,
			  finding.verdict == SB_DENY ? SB_FILES_BLOCKED : SB_FILES_NEEDS_CONSENT, 0,
			  "%s to %s '%s': %s", sb_verdict_name(finding.verdict), verbs[wish->op],
			  path_of(wish, place), finding.reason);
		fill(job, wish, place, &finding, false);
	}
	return finding.verdict;
}
