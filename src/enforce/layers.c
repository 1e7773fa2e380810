#include "enforce/layers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "path/path.h"

static void say(struct sb_weaknesses *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct sb_weaknesses *out, const char *format, ...)
{
	char raw[1024];
	va_list args;

	if (out->count == SB_MAX_WEAKNESSES)
		return;
	va_start(args, format);
	vsnprintf(raw, sizeof raw, format, args);
	va_end(args);
	sb_escape_line(out->text[out->count++], sizeof out->text[0], raw);
}

static bool can_signal_outside(const struct sb_layers *layers)
{
	return layers->landlock_abi < 6 && !layers->pid_namespace;
}

bool sb_layers_hold_signals(const struct sb_layers *layers)
{
	return can_signal_outside(layers) && layers->supervised && !layers->outer;
}

/* What every run loses with a layer: one row per loss, in the user's words. */
static void find_lost(const struct sb_layers *layers, struct sb_weaknesses *out)
{
	bool alone = !layers->supervised;
	const struct {
		bool missing;
		const char *sentence;
	} losses[] = {
		/* without a namespace the filter refuses all of it */
		{!layers->ipc_namespace && !layers->seccomp,
		 "System V shared memory and message queues of other programs can be reached"},
		{!layers->mounts && alone, "your other terminals can be read and written to"},
		{!layers->mounts && alone && layers->landlock_abi < 3,
		 "files outside can be emptied with truncate (needs Landlock ABI 3)"},
		/* with mounts a broker decides about every name, and lets no open for writing through */
		{layers->landlock_abi < 1 && (!layers->mounts || alone),
		 "device files can be written and rules for single operations are not held "
		 "(no Landlock)"},
		{can_signal_outside(layers) && alone,
		 "programs outside can be signalled (needs Landlock ABI 6)"},
		/* a broker connects sockets itself, and those without a connection cannot be made */
		{layers->landlock_abi < 6 && !layers->net_namespace && alone,
		 "abstract unix sockets outside can be reached (needs Landlock ABI 6)"},
		{!layers->seccomp,
		 "keystrokes can be faked on the terminal and little-used system calls are open "
		 "(no seccomp filter)"},
	};

	if (!layers->mounts && alone)
		say(out,
		    "modes, owners, times and attributes of files outside can be changed, the real "
		    "/tmp and /dev/shm are used, and services' sockets can be connected to%s%s%s",
		    layers->no_mounts[0] ? " (" : "", layers->no_mounts,
		    layers->no_mounts[0] ? ")" : "");
	for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
		if (losses[i].missing)
			say(out, "%s", losses[i].sentence);
}

/* Without mounts, what stands inside a writable directory cannot be held apart from it. */
static void find_unheld(const struct sb_plan *plan, bool users_only, struct sb_weaknesses *out)
{
	const struct sb_plan_node *first = NULL;
	size_t more = 0;

	for (size_t i = sb_plan_next_stricter(plan, 0); i < plan->node_count;
	     i = sb_plan_next_stricter(plan, i + 1)) {
		const struct sb_plan_node *node = &plan->nodes[i];

		if (sb_plan_temp_is_closed(plan, node->parent) || /* so it is held */
		    sb_path_within("/dev", node->path) ||         /* has a sentence of its own */
		    (users_only && (!node->rule || node->rule->tier == SB_TIER_BUILTIN)))
			continue;
		more += first != NULL;
		/* of sockets another sentence says that they are reached */
		if (!first || (first->rule && first->rule->sockets))
			first = node;
	}
	if (first && more)
		say(out,
		    "'%s' and %zu more protected names inside writable directories can be changed",
		    first->path, more);
	else if (first)
		say(out, "'%s' inside a writable directory can be changed", first->path);
}

static void find_listed(const struct sb_layers *layers, const struct sb_plan *plan,
			struct sb_weaknesses *out)
{
	bool listed = sb_layers_hold_listings(layers, plan), terminal = false;

	for (size_t i = 1; i < plan->node_count; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];
		const struct sb_plan_node *parent = &plan->nodes[node->parent];

		if (node->state != SB_STATE_HIDDEN || node->driven)
			continue;
		if (sb_path_within("/dev/pts", node->path)) {
			/* a supervisor opens the run's, and Landlock none at all */
			if (!terminal && (!layers->supervised || !plan->own_terminals))
				say(out, "other terminals such as '%s' can be read", node->path);
			terminal = true;
			continue;
		}
		if (node->kind == SB_KIND_SPECIAL && !layers->supervised)
			say(out, "the service at '%s' can be connected to", node->path);
		else if (sb_plan_hides_names(node) && !listed && parent->state != SB_STATE_HIDDEN) {
			say(out,
			    "names (not contents) in hidden directories such as '%s' can be listed",
			    node->path);
			listed = true;
		}
	}
}

/* Reading is granted entry by entry beside what is hidden, so what is made there later has no grant. */
static void find_closed(const struct sb_plan *plan, struct sb_weaknesses *out)
{
	for (size_t i = 1; i < plan->node_count; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];
		const struct sb_plan_node *parent = &plan->nodes[node->parent];

		if (parent->state == SB_STATE_WRITABLE && !parent->temp &&
		    !sb_path_within("/dev", node->path) && sb_plan_hides_content(node))
			say(out, "new files beside the hidden '%s' cannot be read back",
			    node->path);
	}
}

static void find_unreadable(const struct sb_plan *plan, struct sb_weaknesses *out)
{
	for (size_t i = 0; i < plan->absent_count; i++)
		if (sb_plan_state_at(plan, plan->absent[i]) == SB_STATE_READABLE &&
		    sb_plan_is_beside_hidden(plan, plan->absent[i]))
			say(out, "'%s' can be made, but what is made there cannot be read back",
			    plan->absent[i]);
}

static void find_closed_temp(const struct sb_plan *plan, struct sb_weaknesses *out)
{
	for (size_t i = 1; i < plan->node_count; i++)
		if (sb_plan_temp_is_closed(plan, i))
			say(out,
			    "'%s' holds more than temporary files and is therefore not writable",
			    plan->nodes[i].path);
}

const char *sb_layers_why_no_gate(const struct sb_layers *layers)
{
	if (layers->outer)
		return "this is a run inside another";
	if (!layers->supervised)
		return "a static run asks nobody";
	return layers->net_namespace ? "its network namespace cannot be set up"
				     : "there are no network namespaces";
}

void sb_weaknesses_find(const struct sb_layers *layers, const struct sb_plan *plan,
			struct sb_weaknesses *out)
{
	out->count = 0;
	find_lost(layers, out);
	if (plan && plan->gate && !layers->gate)
		say(out, "hosts cannot be told apart (%s): the network is closed",
		    sb_layers_why_no_gate(layers));
	if (plan && plan->own_dev && !layers->own_dev)
		say(out, "block devices can be read, and with them every hidden file");
	if (plan && !layers->mounts && !layers->supervised)
		find_unheld(plan, false, out);
	if (plan && !layers->mounts)
		find_listed(layers, plan, out);
	out->open = out->count;
	if (!plan || layers->mounts)
		return;
	find_closed(plan, out);
	if (layers->spares < 0)
		find_unreadable(plan, out);
	if (!layers->supervised)
		find_closed_temp(plan, out);
}

bool sb_layers_hold_listings(const struct sb_layers *layers, const struct sb_plan *plan)
{
	if (!layers->supervised || layers->mounts || layers->outer || layers->landlock_abi < 1)
		return false;
	for (size_t i = 0; i < plan->node_count; i++)
		if (sb_plan_hides_names(&plan->nodes[i]))
			return true;
	return false;
}

void sb_weaknesses_nested(const struct sb_layers *layers, const struct sb_plan *plan,
			  struct sb_weaknesses *out)
{
	out->count = 0;
	if (!layers->mounts && !layers->supervised) /* else the outer broker holds them */
		find_unheld(plan, true, out);
	out->open = out->count;
}

void sb_layers_describe(const struct sb_layers *layers, char *out, size_t size)
{
	char landlock[32] = "";
	const char *mounts = !layers->mounts          ? NULL
			     : layers->user_namespace ? "user and mount namespaces"
						      : "mount namespace";

	if (layers->landlock_abi > 0)
		snprintf(landlock, sizeof landlock, "Landlock ABI %d", layers->landlock_abi);
	snprintf(out, size, "%s%s%s%s%s%s%s%s%s", mounts ? mounts : "",
		 layers->pid_namespace ? ", pid namespace" : "",
		 layers->net_namespace ? ", network namespace" : "",
		 mounts && landlock[0] ? ", " : "", landlock,
		 (mounts || landlock[0]) && layers->seccomp ? ", " : "",
		 layers->seccomp ? "seccomp filter" : "", layers->supervised ? ", supervisor" : "",
		 !mounts && !landlock[0] && !layers->seccomp ? "none" : "");
}
