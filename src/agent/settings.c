/*
 * settings.c - one piece in the text of a settings file: found, added, removed.
 */
#include "agent/settings.h"

#include <string.h>

#include "agent/json_text.h"
#include "agent/settings_impl.h"
#include "base/auto.h"
#include "base/hash.h"

/* --- a file of our own ----------------------------------------------------------------------- */

/* Its first line has the sum of the others, so that what somebody has changed is theirs. */
static enum sb_piece_state look_at_file(const struct sb_agent *agent, const struct sb_piece *piece,
					const char *text, size_t length)
{
	SB_AUTO_BUF struct sb_buf mark = SB_BUF(256);
	const char *line = memchr(text, '\n', length);
	char sum[SB_SHA256_HEX];
	size_t first;

	if (length == strlen(piece->value) && memcmp(text, piece->value, length) == 0)
		return SB_PIECE_SAME;
	if (!line)
		return SB_PIECE_THEIRS;
	first = (size_t)(line - text) + 1;
	sb_sha256_hex(text + first, length - first, sum);
	sb_buf_printf(&mark, "// " SB_PIECE_ADDED, sb_agent_name(agent), sum);
	return mark.length == first && memcmp(text, mark.data, first) == 0 ? SB_PIECE_OURS
									   : SB_PIECE_THEIRS;
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* Does it have the form that we write?  Paths and options may differ. */
static bool is_alike(const struct sb_agent *agent, const struct sb_json_text *doc, size_t value,
		     const struct sb_json_text *ours, size_t own, const char *name)
{
	const struct sb_json_place *a = &doc->values[value], *b = &ours->values[own];
	size_t i, j;

	if (a->kind != b->kind)
		return false;
	if (a->kind == '"') {
		SB_AUTO_FREE char *text = sb_json_text_string(doc, value);
		SB_AUTO_FREE char *mine = sb_json_text_string(ours, own);

		if (!text || !mine)
			return false;
		if (strcmp(name, "command") == 0 && sb_piece_is_command(agent, mine))
			return sb_piece_is_command(agent, text);
		if (strcmp(name, "command") == 0)
			return sb_piece_is_server(text);
		return strcmp(text, mine) == 0;
	}
	if (a->kind == '[' && (strcmp(name, "args") == 0 || strcmp(name, "command") == 0)) {
		for (i = a->first; i; i = doc->values[i].next)
			if (doc->values[i].kind != '"')
				return false;
		return strcmp(name, "args") == 0 ||
		       (a->first && is_alike(agent, doc, a->first, ours, b->first, "command"));
	}
	for (i = a->first, j = b->first; i && j;
	     i = doc->values[i].next, j = ours->values[j].next) {
		SB_AUTO_FREE char *key = NULL;

		if (b->kind == '{') {
			key = strndup(ours->text + ours->values[j].key_start + 1,
				      ours->values[j].key_end - ours->values[j].key_start - 2);
			if (!key || sb_json_text_member(doc, value, key) != i)
				return false; /* another name, or another order */
		}
		if (!is_alike(agent, doc, i, ours, j, key ? key : ""))
			return false;
	}
	return !i && !j;
}

/* Does it say what our piece does?  Agents that print the file again escape less than we do. */
static bool is_same(const struct sb_json_text *doc, size_t value, const struct sb_json_text *ours)
{
	return sb_json_same(&doc->tree, &doc->tree.nodes[value], &ours->tree, ours->tree.nodes);
}

/* A JSON file that was read, and our piece in it. */
struct json_look {
	struct sb_json_text doc, ours;
	size_t boxes[4]; /* the root, and the values at keys; 0 from the first that is missing */
	size_t depth;    /* keys */
	size_t value;    /* our piece's, or one that has its place; 0: none */
	enum sb_piece_state state;
};

static void json_look_done(struct json_look *look)
{
	sb_json_text_done(&look->doc);
	sb_json_text_done(&look->ours);
}

static int unlike(struct sb_error *err, const char *key)
{
	return sb_fail(err, SB_E_INVALID, 0, "'%s' is not what it should be", key);
}

/* Does a hook that is not of our form call sandbash's? */
static bool mentions_hook(const struct sb_json_text *doc, size_t value)
{
	const struct sb_json_place *found = &doc->values[value];
	size_t length = found->end - found->start;

	return memmem(doc->text + found->start, length, "sandbash", 8) &&
	       memmem(doc->text + found->start, length, "--hook", 6);
}

static void look_in_array(const struct sb_agent *agent, struct json_look *look, size_t array)
{
	for (size_t i = look->doc.values[array].first; i; i = look->doc.values[i].next) {
		if (is_alike(agent, &look->doc, i, &look->ours, SB_JSON_ROOT, "")) {
			if (look->value) { /* two of them: one is not from here */
				look->state = SB_PIECE_THEIRS;
				return;
			}
			look->value = i;
			look->state = is_same(&look->doc, i, &look->ours) ? SB_PIECE_SAME
									  : SB_PIECE_OURS;
		} else if (mentions_hook(&look->doc, i)) {
			look->state = SB_PIECE_THEIRS;
			return;
		}
	}
}

static int look_in_json(const struct sb_agent *agent, const struct sb_piece *piece,
			const char *text, size_t length, struct json_look *out,
			struct sb_error *err)
{
	struct json_look look = {0};
	int status = sb_json_text_read(text, length, SB_JSON_COMMENTS, &look.doc, err);

	if (status == SB_OK)
		status = sb_json_text_read(piece->value, strlen(piece->value), SB_JSON_STRICT,
					   &look.ours, err);
	if (status == SB_OK && look.doc.values[SB_JSON_ROOT].kind != '{')
		status = unlike(err, "{}");
	while (look.depth < 3 && piece->keys[look.depth])
		look.depth++;
	for (size_t i = 0; i < look.depth && status == SB_OK; i++) {
		bool last = i + 1 == look.depth;
		size_t next = sb_json_text_member(&look.doc, look.boxes[i], piece->keys[i]);
		char kind = next ? look.doc.values[next].kind : 0;

		look.boxes[i + 1] = next;
		if (!next)
			break;
		if ((!last && kind != '{') || (last && piece->form == SB_PIECE_ITEM && kind != '['))
			status = unlike(err, piece->keys[i]);
		else if (last && piece->form == SB_PIECE_ITEM)
			look_in_array(agent, &look, next);
		else if (last) {
			look.value = next;
			look.state = SB_PIECE_THEIRS;
			if (is_alike(agent, &look.doc, next, &look.ours, SB_JSON_ROOT, ""))
				look.state = SB_PIECE_OURS;
			if (is_same(&look.doc, next, &look.ours))
				look.state = SB_PIECE_SAME;
		}
	}
	if (status != SB_OK) {
		json_look_done(&look);
		return status;
	}
	*out = look;
	return SB_OK;
}

/* --- looking, adding, removing --------------------------------------------------------------- */

static bool is_json(const struct sb_piece *piece)
{
	return piece->form == SB_PIECE_MEMBER || piece->form == SB_PIECE_ITEM;
}

static bool is_empty(const char *text, size_t length)
{
	return strspn(text, " \t\r\n") >= length;
}

int sb_piece_look(const struct sb_agent *agent, const struct sb_piece *piece, const char *text,
		  size_t length, enum sb_piece_state *out, struct sb_error *err)
{
	struct sb_toml_piece found;
	struct json_look look;
	int status;

	if (is_empty(text, length)) {
		*out = SB_PIECE_NONE;
		return SB_OK;
	}
	if (piece->form == SB_PIECE_FILE) {
		*out = look_at_file(agent, piece, text, length);
		return SB_OK;
	}
	if (piece->form == SB_PIECE_BLOCK) {
		status = sb_toml_piece_find(agent, piece, text, length, &found, err);
		if (status == SB_OK)
			*out = found.state;
		return status;
	}
	status = look_in_json(agent, piece, text, length, &look, err);
	if (status != SB_OK)
		return status;
	*out = look.state;
	json_look_done(&look);
	return SB_OK;
}

/* A value inside as many new brackets as are missing. */
static void add_json(const struct sb_piece *piece, const struct json_look *look, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf value = SB_BUF(SB_SETTINGS_LIMIT);
	bool item = piece->form == SB_PIECE_ITEM;
	size_t there = 0;

	while (there < look->depth && look->boxes[there + 1])
		there++;
	if (look->value) {
		sb_json_put(&look->doc, look->value, piece->value, out);
		return;
	}
	if (there == look->depth) { /* the array is there */
		sb_json_add(&look->doc, look->boxes[there], NULL, piece->value, out);
		return;
	}
	for (size_t i = there + 1; i < look->depth; i++)
		sb_buf_printf(&value, "{\"%s\":", piece->keys[i]);
	sb_buf_printf(&value, item ? "[%s]" : "%s", piece->value);
	for (size_t i = there + 1; i < look->depth; i++)
		sb_buf_putc(&value, '}');
	out->failed |= sb_buf_failed(&value);
	sb_json_add(&look->doc, look->boxes[there], piece->keys[there], value.data, out);
}

static void add_block(const struct sb_piece *piece, const char *text, size_t length,
		      const struct sb_toml_piece *old, struct sb_buf *out)
{
	if (old->end) {
		sb_buf_append(out, text, old->start);
		sb_buf_puts(out, piece->value);
		sb_buf_append(out, text + old->end, length - old->end);
		return;
	}
	sb_buf_append(out, text, length);
	if (length && text[length - 1] != '\n')
		sb_buf_putc(out, '\n');
	if (length)
		sb_buf_putc(out, '\n');
	sb_buf_puts(out, piece->value);
}

int sb_piece_add(const struct sb_agent *agent, const struct sb_piece *piece, const char *text,
		 size_t length, struct sb_buf *out, struct sb_error *err)
{
	enum sb_piece_state state = SB_PIECE_NONE;
	struct json_look look;
	struct sb_toml_piece old = {0};
	int status = SB_OK;

	if (is_empty(text, length) && is_json(piece)) {
		text = "{}\n";
		length = 3;
	}
	if (is_json(piece)) {
		status = look_in_json(agent, piece, text, length, &look, err);
		if (status == SB_OK) {
			add_json(piece, &look, out);
			json_look_done(&look);
		}
	} else if (piece->form == SB_PIECE_FILE) {
		sb_buf_puts(out, piece->value);
	} else {
		status = sb_toml_piece_find(agent, piece, text, length, &old, err);
		if (status == SB_OK)
			add_block(piece, text, length, &old, out);
	}
	if (status != SB_OK)
		return status;
	if (sb_buf_failed(out))
		return sb_fail(err, SB_E_INVALID, 0, "the file would become too large");
	/* what was written must read back as what was meant, and as that alone */
	status = sb_piece_look(agent, piece, out->data, out->length, &state, err);
	if (status == SB_OK && state != SB_PIECE_SAME)
		status = sb_fail(err, SB_E_INVALID, 0, "cannot add to what is there");
	return status;
}

/* The value at the first keys of a piece, in the text as it was; 0: not there. */
static bool was_there(const struct sb_piece *piece, const char *text, size_t length, size_t depth)
{
	SB_AUTO(sb_json_text_done) struct sb_json_text doc = {0};
	size_t at = SB_JSON_ROOT;

	if (is_empty(text, length) ||
	    sb_json_text_read(text, length, SB_JSON_COMMENTS, &doc, NULL) != SB_OK)
		return false;
	for (size_t i = 0; i < depth; i++) {
		at = sb_json_text_member(&doc, at, piece->keys[i]);
		if (!at)
			break;
	}
	return at || !depth;
}

static int remove_json(const struct sb_agent *agent, const struct sb_piece *piece,
		       const struct sb_buf *text, const struct sb_buf *before, struct sb_buf *out,
		       struct sb_error *err)
{
	struct json_look look;
	size_t box, value;
	int status = look_in_json(agent, piece, text->data, text->length, &look, err);

	if (status != SB_OK)
		return status;
	/* from the inside out: what held nothing but the piece goes with it */
	value = look.value;
	box = look.depth - (piece->form == SB_PIECE_MEMBER);
	while (box && look.doc.values[look.boxes[box]].first == value &&
	       !look.doc.values[value].next && !was_there(piece, before->data, before->length, box))
		value = look.boxes[box--];
	sb_json_drop(&look.doc, look.boxes[box], value, out);
	json_look_done(&look);
	return sb_buf_failed(out) ? sb_no_memory(err) : SB_OK;
}

int sb_piece_remove(const struct sb_agent *agent, const struct sb_piece *piece,
		    const struct sb_buf *text, const struct sb_buf *before, struct sb_buf *out,
		    struct sb_error *err)
{
	enum sb_piece_state state;
	struct sb_toml_piece old;
	int status;

	if (piece->form == SB_PIECE_FILE)
		return SB_OK;
	if (is_json(piece)) {
		status = remove_json(agent, piece, text, before, out, err);
		if (status == SB_OK) /* it must still be JSON */
			status = sb_piece_look(agent, piece, out->data, out->length, &state, err);
		if (status != SB_OK)
			return status;
		if (is_empty(before->data, before->length) && strcmp(out->data, "{}\n") == 0)
			out->length = 0; /* the file was ours */
		return SB_OK;
	}
	status = sb_toml_piece_find(agent, piece, text->data, text->length, &old, err);
	if (status != SB_OK)
		return status;
	/* with the empty line between it and what is before it, or what follows */
	if (old.start >= 2 && text->data[old.start - 1] == '\n' &&
	    text->data[old.start - 2] == '\n')
		old.start--;
	else if (!old.start && old.end < text->length && text->data[old.end] == '\n')
		old.end++;
	sb_buf_append(out, text->data, old.start);
	sb_buf_append(out, text->data + old.end, text->length - old.end);
	return sb_buf_failed(out) ? sb_no_memory(err) : SB_OK;
}
