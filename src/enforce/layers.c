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

static bool no_mounts(const struct sb_layers *layers)
{
	return !layers->mounts && !layers->supervised;
}

/* Without a namespace the filter refuses all of it. */
static bool no_ipc(const struct sb_layers *layers)
{
	return !layers->ipc_namespace && !layers->seccomp;
}

static bool no_truncate(const struct sb_layers *layers)
{
	return !layers->mounts && !layers->supervised && layers->landlock_abi < 3;
}

/* With mounts a broker decides about every name, and lets no open for writing through. */
static bool no_landlock(const struct sb_layers *layers)
{
	return layers->landlock_abi < 1 && !(layers->mounts && layers->supervised);
}

static bool can_signal_outside(const struct sb_layers *layers)
{
	return layers->landlock_abi < 6 && !layers->pid_namespace;
}

bool sb_layers_hold_signals(const struct sb_layers *layers)
{
	return can_signal_outside(layers) && layers->supervised && !layers->outer;
}

static bool no_signal_scope(const struct sb_layers *layers)
{
	return can_signal_outside(layers) && !layers->supervised;
}

/* A broker connects sockets itself, and those without a connection cannot be made. */
static bool no_abstract_scope(const struct sb_layers *layers)
{
	return layers->landlock_abi < 6 && !layers->net_namespace && !layers->supervised;
}

static bool no_seccomp(const struct sb_layers *layers)
{
	return !layers->seccomp;
}

/* What every run loses with a layer: one row per loss, in the user's words. */
static const struct {
	bool (*missing)(const struct sb_layers *layers);
	const char *sentence;
} losses[] = {
	{no_mounts, "modes, owners, times and attributes of files outside can be changed, the real "
		    "/tmp and /dev/shm are used, and services' sockets can be connected to"},
	{no_ipc, "System V shared memory and message queues of other programs can be reached"},
	{no_truncate, "files outside can be emptied with truncate (needs Landlock ABI 3)"},
	{no_landlock, "device files can be written and rules for single operations are not held "
		      "(no Landlock)"},
	{no_signal_scope, "programs outside can be signalled (needs Landlock ABI 6)"},
	{no_abstract_scope, "abstract unix sockets outside can be reached (needs Landlock ABI 6)"},
	{no_seccomp,
	 "keystrokes can be faked on the terminal and little-used system calls are open "
	 "(no seccomp filter)"},
};

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

/* Reading is granted entry by entry in a directory that holds something hidden. */
static bool holds_hidden(const struct sb_plan *plan, const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);

	for (size_t i = 1; parent && i < plan->node_count; i++)
		if (sb_path_within(parent, plan->nodes[i].path) &&
		    sb_plan_hides_content(&plan->nodes[i]))
			return true;
	return false;
}

static void find_unreadable(const struct sb_plan *plan, struct sb_weaknesses *out)
{
	for (size_t i = 0; i < plan->absent_count; i++)
		if (sb_plan_state_at(plan, plan->absent[i]) == SB_STATE_READABLE &&
		    holds_hidden(plan, plan->absent[i]))
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

/* Is this the loss of mounts, so that why there are none belongs to the sentence? */
static bool is_mounts(bool (*missing)(const struct sb_layers *layers))
{
	return missing == no_mounts;
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
	for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
		if (losses[i].missing(layers))
			say(out, "%s%s%s%s", losses[i].sentence,
			    is_mounts(losses[i].missing) && layers->no_mounts[0] ? " (" : "",
			    is_mounts(losses[i].missing) ? layers->no_mounts : "",
			    is_mounts(losses[i].missing) && layers->no_mounts[0] ? ")" : "");
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
