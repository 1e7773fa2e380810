/*
 * roots.c - the view of the files, and what a client's roots make of it.
 *
 * Roots are a hint.  They can narrow what the user's configuration allows, never widen it: of
 * each, only what lies in a project of ours counts.  If nothing of them does, they mean another
 * machine or another purpose, and are passed over.  They hold for commands as well: the keeper
 * starts those with --within.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/list.h"
#include "mcp/server/server.h"
#include "path/path.h"

#define MAX_ROOTS 256

static enum sb_files_answer ask_later(void *context, const struct sb_files_question *question)
{
	(void)context;
	(void)question;
	return SB_FILES_ANSWER_LATER; /* the keeper asks */
}

/* F7.  In the thread of the call, which owns its list; what asks is the keeper's to record. */
static void audit(void *context, const struct sb_files_event *event)
{
	struct sb_mcp_call *call = event->caller ? event->caller->context : NULL;
	const struct sb_mcp *mcp = context;
	bool allowed = event->verdict == SB_ALLOW;
	json_t *told;

	if (!call || (!allowed && (event->verdict != SB_DENY || event->done)))
		return;
	if (allowed)
		call->allowed[event->op]++;
	if (allowed && !sb_policy_get(mcp->setup->policy, SB_SETTING_LOG_ALLOWED))
		return;
	told = json_pack("{s:s, s:s, s:o, s:s}", "k", allowed ? "allow" : "deny", "op",
			 sb_op_name(event->op), "path", sb_rpc_string(event->path), "tool",
			 call->tool->name);
	sb_put_text(told, "rule", event->rule ? event->rule->origin : NULL);
	if (sb_decision_is_quiet(&(struct sb_decision){event->verdict, event->rule}, event->op))
		json_object_set_new(told, "by", json_string("quiet"));
	sb_put_text(told, "given", event->given);
	sb_put_text(told, "root", event->root);
	if (!call->events)
		call->events = json_array();
	json_array_append_new(call->events, told);
}

void sb_view_release(struct sb_mcp_view *view)
{
	view->users--;
	if (view->retired && !view->users) {
		sb_files_close(view->files);
		sb_outside_free(view->outside);
		free(view);
	}
}

int sb_mcp_open_view(struct sb_mcp *mcp, const char *const *roots, struct sb_files_error *err)
{
	struct sb_files_options options = sb_files_for(&mcp->setup->home, ask_later, audit, mcp);
	struct sb_mcp_view *view = calloc(1, sizeof *view);
	int status = -SB_FILES_NO_MEMORY;

	if (mcp->worker)
		roots = sb_tool_worker_view(mcp->worker, &options);
	if (view)
		status = sb_tools_open_view(mcp->setup->policy, roots, &options, &view->files, err);
	if (status != 0) {
		free(view);
		return status;
	}
	if (!mcp->view) {
		view->outside = sb_outside_look(&mcp->setup->home, view->files);
	} else {
		mcp->view->retired = true;
		mcp->view->users++;
		sb_view_release(mcp->view);
	}
	mcp->view = view;
	return 0;
}

json_t *sb_roots_json(const struct sb_mcp *mcp)
{
	json_t *roots = json_array();

	for (size_t i = 0; mcp->roots && mcp->roots[i]; i++)
		json_array_append_new(roots, sb_rpc_string(mcp->roots[i]));
	return roots;
}

void sb_roots_opened(struct sb_mcp *mcp, const char *project)
{
	if (!mcp->opened)
		mcp->opened = json_array();
	json_array_append_new(mcp->opened, sb_rpc_string(project));
}

bool sb_roots_have(const struct sb_mcp *mcp, const char *path)
{
	const json_t *project;
	size_t i;

	for (i = 0; sb_files_root(mcp->view->files, i); i++)
		if (sb_path_within(sb_files_root(mcp->view->files, i), path))
			return true;
	json_array_foreach(mcp->opened, i, project) if (sb_path_within(json_string_value(project),
								       path)) return true;
	return false;
}

/* --- asking ---------------------------------------------------------------------------------------- */

void sb_roots_ask(struct sb_mcp *mcp)
{
	/* directories of the client's machine say nothing about a worker's */
	if (!mcp->has_roots || !mcp->initialized || mcp->worker)
		return;
	mcp->roots_request = ++mcp->last_request;
	sb_out_send(mcp->out, sb_rpc_request(sb_mcp_request_id(mcp->roots_request), "roots/list",
					     json_object()));
}

/* --- answers ---------------------------------------------------------------------------------------- */

/* "file:///a%20b" -> "/a b"; NULL: it is no file of this machine. */
static char *path_of(const char *uri)
{
	SB_AUTO_BUF struct sb_buf path = SB_BUF(16 * 1024);
	const char *at = uri;

	if (strncmp(at, "file://localhost/", 17) == 0)
		at += 16;
	else if (strncmp(at, "file:///", 8) == 0)
		at += 7;
	else
		return NULL;
	for (; *at; at++) {
		int high = *at == '%' ? sb_hex_digit(at[1]) : -1,
		    low = high >= 0 ? sb_hex_digit(at[2]) : -1;

		if (low >= 0 && !high && !low)
			return NULL; /* a NUL */
		if (low >= 0) {
			sb_buf_putc(&path, (char)(high << 4 | low));
			at += 2;
		} else {
			sb_buf_putc(&path, *at);
		}
	}
	return sb_buf_take(&path);
}

static void add_root(char **roots, size_t *count, const char *root)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp(roots[i], root) == 0)
			return;
	if (*count < MAX_ROOTS && (roots[*count] = strdup(root)))
		++*count;
}

/* What root and the projects have in common. */
static void narrow(const struct sb_mcp *mcp, const char *root, char **roots, size_t *count)
{
	char **open = sb_setup_open_roots(mcp->setup);

	for (size_t i = 0; open[i]; i++) {
		const char *project = open[i];

		if (sb_path_within(project, root))
			add_root(roots, count, root);
		else if (sb_path_within(root, project))
			add_root(roots, count, project);
	}
}

static void take_roots(struct sb_mcp *mcp, const json_t *list)
{
	char **roots = calloc(MAX_ROOTS + 1, sizeof *roots);
	size_t count = 0, i;
	struct sb_files_error err;
	json_t *root;

	json_array_foreach(list, i, root)
	{
		const char *uri = sb_get_text(root, "uri");
		SB_AUTO_FREE char *named = uri ? path_of(uri) : NULL;
		SB_AUTO_FREE char *real = NULL;
		int missing = 0;

		/* a file, which would fail the view of all of them, opens nothing by itself */
		if (named && roots && sb_path_canonical(named, &real, &missing, NULL) == SB_OK &&
		    !missing && sb_path_is_directory(real))
			narrow(mcp, real, roots, &count);
	}
	if (!count) {
		if (json_array_size(list))
			fprintf(stderr, "sandbash: the client's roots lie outside the allowed "
					"directories and are ignored\n");
		sb_list_free(roots);
		return;
	}
	if (sb_mcp_open_view(mcp, (const char *const *)roots, &err) != 0) {
		sb_list_free(roots);
		return;
	}
	sb_list_free(mcp->roots);
	mcp->roots = roots;
}

bool sb_roots_answered(struct sb_mcp *mcp, const struct sb_message *message)
{
	json_auto_t *id = sb_mcp_request_id(mcp->roots_request);
	bool ours = mcp->roots_request && json_equal(id, message->id);
	const json_t *list = json_object_get(message->result, "roots");

	if (!ours)
		return false;
	mcp->roots_request = 0;
	if (json_is_array(list))
		take_roots(mcp, list);
	return true;
}
