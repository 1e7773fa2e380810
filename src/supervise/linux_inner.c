#include "supervise/inner.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "supervise/case.h"
#include "supervise/domains.h"

/* What one of them says: deny and ask are told apart by who can be asked. */
static struct sb_decision decide(const struct sb_domain *domain, const struct sb_call *call,
				 const struct sb_spot *file, const struct sb_spot *target)
{
	const struct sb_grounds grounds = {.policy = domain->policy, .inner = true};
	struct sb_judgement judgement;
	struct sb_decision decision;

	sb_judge_call(&grounds, call, file, target, &judgement);
	decision = judgement.strictest->decision;
	if (decision.verdict == SB_ASK &&
	    sb_policy_get(domain->policy, SB_SETTING_WORKERS) != SB_WORKERS_ASK)
		decision.verdict = SB_DENY;
	return decision;
}

enum sb_verdict sb_inner_verdict(const struct sb_call *call, const struct sb_spot *file,
				 const struct sb_spot *target)
{
	enum sb_verdict strictest = SB_ALLOW;
	const struct sb_domain *domain;

	if (!sb_domain_of(call->thread, &domain))
		return SB_DENY;
	for (; domain; domain = domain->outer) {
		enum sb_verdict verdict = decide(domain, call, file, target).verdict;

		strictest = verdict > strictest ? verdict : strictest;
	}
	return strictest;
}

/* Rules of a nested run come without their origins, which could say anything: what they do is told instead. */
static void tell(const struct sb_rule *rule, struct sb_inner *out)
{
	const unsigned char *verdict = rule ? rule->access.verdict : NULL;

	out->read_only = verdict && verdict[SB_READ] == SB_ALLOW && verdict[SB_MODIFY] == SB_DENY &&
			 verdict[SB_CREATE] == SB_DENY && verdict[SB_DELETE] == SB_DENY;
	if (!verdict || verdict[SB_READ] != SB_ALLOW)
		snprintf(out->says, sizeof out->says,
			 "the worker that was called does not have it");
	else if (out->read_only && !rule->pattern[1])
		snprintf(out->says, sizeof out->says, "the system is read-only");
	else
		snprintf(out->says, sizeof out->says, "%.400s is %s to the worker that was called",
			 rule->pattern, out->read_only ? "read-only" : "not open for that");
}

static void put_names(const struct sb_domain *domain, struct sb_buf *out)
{
	if (!domain)
		return;
	put_names(domain->outer, out);
	if (domain->worker[0])
		sb_buf_printf(out, "%s%s", out->length ? " > " : "", domain->worker);
}

void sb_inner_look(const struct sb_call *call, const struct sb_spot *file,
		   const struct sb_spot *target, struct sb_inner *out)
{
	SB_AUTO_BUF struct sb_buf names = SB_BUF(SB_INNER_WORKERS);
	const struct sb_domain *domain;

	out->verdict = SB_ALLOW;
	out->domain = 0;
	out->read_only = false;
	out->workers[0] = out->says[0] = '\0';
	if (!sb_domain_of(call->thread, &domain)) {
		out->verdict = SB_DENY;
		return;
	}
	if (!domain)
		return;
	out->domain = domain->number;
	put_names(domain, &names);
	snprintf(out->workers, sizeof out->workers, "%s",
		 sb_buf_failed(&names) ? "..." : names.data);
	for (; domain; domain = domain->outer) {
		struct sb_decision decision = decide(domain, call, file, target);

		if (decision.verdict > out->verdict) {
			out->verdict = decision.verdict;
			tell(decision.rule, out);
		}
	}
}
