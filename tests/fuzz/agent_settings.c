/*
 * agent_settings.c - fuzz target: the first byte chooses an agent and a piece, the rest is the
 * settings file as a person has it.
 *
 * Whatever it is, it is understood or left alone.  Added, the piece is there and everything else,
 * too; removed, the text is what it was but for blanks.
 */
#include <string.h>

#include "agent/settings.h"
#include "base/auto.h"
#include "fuzz.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The same but for blanks? */
static bool is_same(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t i = 0, j = 0;

	for (;; i++, j++) {
		while (i < a_length && is_blank(a[i]))
			i++;
		while (j < b_length && is_blank(b[j]))
			j++;
		if (i == a_length || j == b_length)
			return i == a_length && j == b_length;
		if (a[i] != b[j])
			return false;
	}
}

static void check_piece(const struct sb_agent *agent, const struct sb_piece *piece,
			const struct sb_piece *other, const char *text, size_t length)
{
	SB_AUTO_BUF struct sb_buf added = SB_BUF(1 << 24);
	SB_AUTO_BUF struct sb_buf again = SB_BUF(1 << 24);
	SB_AUTO_BUF struct sb_buf removed = SB_BUF(1 << 24);
	enum sb_piece_state state;
	struct sb_error err;

	if (sb_piece_look(agent, piece, text, length, &state, &err) != SB_OK) {
		CHECK(err.message[0]);
		return;
	}
	if (state != SB_PIECE_NONE)
		return;
	if (sb_piece_add(agent, piece, text, length, &added, &err) != SB_OK)
		return;
	CHECK(sb_piece_look(agent, piece, added.data, added.length, &state, &err) == SB_OK);
	CHECK(state == SB_PIECE_SAME);
	/* for other options: replaced, and back */
	CHECK(sb_piece_look(agent, other, added.data, added.length, &state, &err) == SB_OK);
	CHECK(state == SB_PIECE_OURS || piece->form == SB_PIECE_FILE);
	CHECK(sb_piece_add(agent, other, added.data, added.length, &again, &err) == SB_OK);
	if (sb_piece_remove(agent, other, &again,
			    &(struct sb_buf){.data = (char *)text, .length = length}, &removed,
			    &err) != SB_OK)
		return; /* a comment in the way: then it is said */
	CHECK(sb_piece_look(agent, piece, removed.data, removed.length, &state, &err) == SB_OK);
	CHECK(state == SB_PIECE_NONE);
	CHECK(is_same(removed.data, removed.length, text, length) ||
	      (!removed.length && length <= 8));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"claude", "codex", "gemini", "opencode"};
	static const char *const one[] = {"--consent=deny", NULL}, *const two[] = {"--deny=a 'b'",
										   NULL};
	struct sb_agent_places places = {
		.home = "/h", .program = "/usr/bin/sandbash", .server = "/usr/bin/sandbash-mcp"};
	const struct sb_agent *agent;
	struct sb_pieces first, second;
	char *text;

	if (!size)
		return 0;
	agent = sb_agent_find(names[data[0] % 4]);
	places.options = one;
	CHECK(sb_pieces_make(agent, &places, &first, NULL) == SB_OK);
	places.options = two;
	CHECK(sb_pieces_make(agent, &places, &second, NULL) == SB_OK);
	text = malloc(size); /* with a NUL, as a file that was read */
	CHECK(text);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	check_piece(agent, &first.all[data[0] / 4 % 2], &second.all[data[0] / 4 % 2], text,
		    size - 1);
	sb_pieces_done(&first);
	sb_pieces_done(&second);
	free(text);
	return 0;
}
