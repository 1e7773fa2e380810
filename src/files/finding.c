#include "files/finding.h"

#include <stdio.h>
#include <string.h>

static void word(const struct sb_judged *judged, char *reason, size_t size)
{
	static const char *const words[] = {
		[SB_WHY_NO_RULE] = "no rule allows it",
		[SB_WHY_OUTSIDE] = "outside the project",
		[SB_WHY_MOUNT] = "on another filesystem that is mounted inside the project",
		[SB_WHY_HARD_LINK] = "the file has other names elsewhere",
		[SB_WHY_IGNORED] = "git ignores it, so git could not bring it back",
		[SB_WHY_TEMPORARY] = "another program made it",
	};
	static const char builtin[] = "built-in: ";
	const struct sb_guard_answer *guard = &judged->guard;
	const char *origin = judged->decision.rule ? judged->decision.rule->origin : "";

	if (judged->why == SB_WHY_GUARDED && (guard->found || !guard->detail[0]))
		snprintf(reason, size, "%s", guard->row ? guard->row->why : "a guarded name");
	else if (judged->why == SB_WHY_GUARDED)
		snprintf(reason, size, "%s (%.*s)", guard->row->why, SB_GUARD_DETAIL,
			 guard->detail);
	else if (judged->why == SB_WHY_RULE && judged->decision.rule &&
		 judged->decision.rule->capped)
		snprintf(reason, size, "the mode is read-only");
	else if (judged->why == SB_WHY_RULE)
		snprintf(reason, size, "%s",
			 strncmp(origin, builtin, strlen(builtin)) == 0 ? origin + strlen(builtin)
									: origin);
	else
		snprintf(reason, size, "%s",
			 judged->decision.verdict == SB_DENY ? "the mode is read-only"
							     : words[judged->why]);
}

bool sb_files_is_mapped(const struct sb_files *view)
{
	return view->backend->ops->real;
}

static void word_mapped(const struct sb_files *view, const struct sb_judged *judged,
			const char *path, struct sb_finding *out)
{
	struct sb_judged told = *judged;
	const struct sb_rule *bound;
	char real[PATH_MAX];

	sb_files_real(view, path, real, &bound);
	out->bound = judged->why == SB_WHY_RULE && judged->decision.rule == bound;
	if (out->bound)
		out->why = SB_FILES_WHY_WORKER;
	told.guard.detail[0] = '\0';
	word(&told, out->reason, sizeof out->reason);
	if (told.why == SB_WHY_RULE && !out->bound && told.decision.rule)
		snprintf(out->reason, sizeof out->reason, "a rule of the user's");
}

void sb_finding_of(const struct sb_files *view, const struct sb_judged *judged, const char *path,
		   struct sb_finding *finding)
{
	static const enum sb_files_why whys[] = {
		[SB_WHY_RULE] = SB_FILES_WHY_RULE,
		[SB_WHY_NO_RULE] = SB_FILES_WHY_NO_RULE,
		[SB_WHY_OUTSIDE] = SB_FILES_WHY_OUTSIDE,
		[SB_WHY_MOUNT] = SB_FILES_WHY_MOUNT,
		[SB_WHY_HARD_LINK] = SB_FILES_WHY_HARD_LINK,
		[SB_WHY_GUARDED] = SB_FILES_WHY_GUARDED,
		[SB_WHY_IGNORED] = SB_FILES_WHY_IGNORED,
		[SB_WHY_TEMPORARY] = SB_FILES_WHY_NO_RULE,
	};

	*finding = (struct sb_finding){
		.verdict = judged->decision.verdict,
		.why = whys[judged->why],
		.root = sb_files_root_of(view, path),
		.rule = judged->why == SB_WHY_IGNORED ? NULL : judged->decision.rule};
	finding->found[0] = '\0';
	if (finding->verdict == SB_ALLOW)
		return;
	if (sb_files_is_mapped(view))
		word_mapped(view, judged, path, finding);
	else
		word(judged, finding->reason, sizeof finding->reason);
	finding->by_itself = judged->brings_bits || finding->why == SB_FILES_WHY_GUARDED ||
			     (finding->why == SB_FILES_WHY_RULE && judged->decision.rule &&
			      judged->decision.rule->tier == SB_TIER_BUILTIN);
	if (judged->brings_bits && judged->why != SB_WHY_GUARDED)
		snprintf(finding->reason + strlen(finding->reason),
			 sizeof finding->reason - strlen(finding->reason),
			 "; whoever runs it may get its owner's rights");
	if (judged->why == SB_WHY_GUARDED && (judged->guard.found || sb_files_is_mapped(view)))
		memcpy(finding->found, judged->guard.detail, sizeof finding->found);
}

const char *sb_finding_line(const struct sb_files *view, const struct sb_finding *finding,
			    char out[SB_REASON])
{
	const char *found = sb_files_is_mapped(view) ? "" : finding->found;
	size_t length =
		(size_t)snprintf(out, SB_REASON, "%s%s", finding->reason, *found ? " (" : "");

	for (const char *at = found; *at; at++)
		length += (size_t)snprintf(out + length, SB_REASON - length, "%s%.1s",
					   *at == '\n' ? ";" : "", *at == '\n' ? " " : at);
	if (*found)
		snprintf(out + length, SB_REASON - length, ")");
	return out;
}
