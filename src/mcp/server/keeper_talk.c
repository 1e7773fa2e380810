/* keeper_talk.c - what the keeper tells the server. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "mcp/server/server.h"

/* A result as the performing process wrote it. */
static json_t *read_result(int fd)
{
	struct stat info;
	json_t *result;
	void *bytes;

	if (fd < 0 || fstat(fd, &info) != 0 || info.st_size <= 0)
		return NULL;
	bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	result = json_loadb(bytes, (size_t)info.st_size, JSON_ALLOW_NUL, NULL);
	munmap(bytes, (size_t)info.st_size);
	return result;
}

/* C4: nobody could be asked.  Say what a person can do about it. */
static void add_way_out(json_t *result, const char *attach, bool declined)
{
	json_t *structured = json_object_get(result, "structuredContent"),
	       *error = json_object_get(structured, "error");
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);
	const char *person = sb_get_text(error, "person"), *allow = sb_get_text(error, "allow");
	const char *code = sb_get_text(error, "code"), *model = sb_get_text(error, "model");
	json_t *said;

	/* other errors have nothing to do with it */
	if (!code ||
	    (strcmp(code, "NEEDS_CONSENT") != 0 && strcmp(code, "PATH_OUTSIDE_PROJECT") != 0))
		return;
	if (strcmp(code, "PATH_OUTSIDE_PROJECT") == 0 && model)
		sb_buf_printf(&text, "%s ", model);
	json_object_set_new(error, "attach", json_string(attach));
	sb_buf_puts(
		&text,
		declined
			? "Nobody was asked, or nobody has answered: the question was closed without "
			  "an answer, or this client declined by itself."
			: "Nobody could be asked: this client shows no questions.");
	sb_mcp_way_in(&text, attach, "the call");
	if (allow)
		sb_buf_printf(&text,
			      " Or start the server with this option to allow it for good: %s",
			      allow);
	json_object_set_new(error, "model", sb_rpc_buf(&text));
	said = json_sprintf("%s: %s\n%s", code, person ? person : "", text.data);
	if (json_is_string(json_object_get(structured, "content")))
		json_object_set(structured, "content", said);
	json_object_set_new(result, "content",
			    json_pack("[{s:s, s:o}]", "type", "text", "text", said));
}

static void performed(struct sb_mcp *mcp, const json_t *message, int fd)
{
	struct sb_mcp_call *call = sb_call_by_number(mcp, sb_get_number(message, "call"));
	const char *attach = sb_get_text(message, "attach"),
		   *opened = sb_get_text(message, "opened");
	json_t *result;

	if (!call || call->run || !call->tool)
		return;
	result = read_result(fd);
	if (!result)
		result = sb_tool_failure("SYSTEM", "the operation could not be carried out",
					 "Try again later.", false, NULL);
	if (sb_get_true(message, "nobody") && attach)
		add_way_out(result, attach, sb_get_true(message, "declined"));
	if (opened)
		sb_roots_opened(mcp, opened);
	/* its question was answered by others: the client hears of it when it comes back */
	if (call->state == SB_CALL_PARKED)
		call->result = result;
	else if (call->state == SB_CALL_KEEPER)
		sb_call_finish(mcp, call, result);
	else
		json_decref(result);
}

void sb_mcp_keeper_message(struct sb_mcp *mcp, const json_t *message, int fds[SB_LINK_FDS])
{
	const char *kind = sb_get_text(message, "k");

	if (strcmp(kind, "performed") == 0)
		performed(mcp, message, fds[0]);
	else if (strcmp(kind, "question") == 0)
		sb_ask_take(mcp, message);
	else if (strcmp(kind, "withdrawn") == 0)
		sb_ask_withdrawn(mcp, sb_get_number(message, "q"));
	else if (strcmp(kind, "log") == 0)
		sb_resources_log(mcp, sb_get_number(message, "call"), fds[0]);
	else
		sb_run_message(mcp, kind, message, fds);
	for (size_t i = 0; i < SB_LINK_FDS; i++)
		sb_auto_close(&fds[i]);
}
