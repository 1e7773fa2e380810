/*
 * agent_event.c - fuzz target: the first byte chooses an agent, the rest is an event of its hook.
 *
 * Whatever it is, it is read or refused.  A command comes back as one that sandbash runs, quoted so
 * that the shell reads the same bytes, and wrapped once more it is what it was.  An answer is JSON.
 */
#include <string.h>

#include "agent/agent.h"
#include "base/auto.h"
#include "fuzz.h"

static const char program[] = "/usr/bin/sandbash";
static const char *const options[] = {"--deny=a 'b'", NULL};

static void check_answer(const struct sb_buf *answer)
{
	struct sb_json_text doc;

	CHECK(!sb_buf_failed(answer));
	CHECK(sb_json_text_read(answer->data, answer->length, SB_JSON_STRICT, &doc, NULL) == SB_OK);
	sb_json_text_done(&doc);
}

/* What a shell takes the quoted word at text for; what is behind it in *out_end. */
static void unquote(const char *text, struct sb_buf *out, const char **out_end)
{
	CHECK(*text == '\'');
	for (text++;; text++) {
		if (*text != '\'') {
			CHECK(*text);
			sb_buf_putc(out, *text);
		} else if (strncmp(text, "'\\''", 4) == 0) {
			sb_buf_putc(out, '\'');
			text += 3;
		} else {
			*out_end = text + 1;
			return;
		}
	}
}

static void check_command(struct sb_tool_event *event)
{
	SB_AUTO_BUF struct sb_buf once = SB_BUF(1 << 24);
	SB_AUTO_BUF struct sb_buf twice = SB_BUF(1 << 24);
	SB_AUTO_BUF struct sb_buf script = SB_BUF(1 << 24);
	SB_AUTO_BUF struct sb_buf answer = SB_BUF(1 << 24);
	char *command = event->text;
	const char *start, *end;
	bool own;

	sb_agent_wrap(event, program, options, &once);
	CHECK(!sb_buf_failed(&once));
	own = strcmp(once.data, command) == 0; /* it was wrapped already */
	event->text = once.data;
	sb_agent_wrap(event, program, options, &twice);
	event->text = command;
	CHECK(!sb_buf_failed(&twice) && strcmp(once.data, twice.data) == 0);
	sb_answer_command(event, once.data, once.length, &answer);
	check_answer(&answer);
	if (strstr(event->cwd, " -- bash")) /* the words that are looked for */
		return;
	start = strstr(once.data, " -- bash -c '");
	CHECK(start);
	unquote(start + strlen(" -- bash -c "), &script, &end);
	CHECK(!*end || strcmp(end, " bash \"$OLDPWD\")") == 0);
	CHECK(own || (script.length >= strlen(command) &&
		      strcmp(script.data + script.length - strlen(command), command) == 0));
}

static int check_path(void *context, enum sb_touch touch, const char *path, struct sb_error *err)
{
	(void)context;
	(void)err;
	CHECK(touch <= SB_TOUCH_SEARCH && *path && *path != ' ' && *path != '\n');
	return SB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"claude", "codex", "gemini", "opencode"};
	SB_AUTO_BUF struct sb_buf answer = SB_BUF(1 << 24);
	struct sb_tool_event event;
	struct sb_error err;
	char *text;

	if (!size)
		return 0;
	text = malloc(size); /* exactly: what is read behind it is found */
	CHECK(text);
	memcpy(text, data + 1, size - 1);
	if (sb_tool_event_read(sb_agent_find(names[data[0] % 4]), text, size - 1, &event, &err) ==
	    SB_OK) {
		CHECK(event.cwd[0] == '/');
		if (event.kind == SB_TOOL_SHELL && event.text)
			check_command(&event);
		sb_tool_event_paths(&event, check_path, NULL, &err);
		sb_answer_deny(&event, event.tool, &answer);
		check_answer(&answer);
		sb_tool_event_done(&event);
	} else {
		CHECK(err.message[0]);
	}
	free(text);
	return 0;
}
