/*
 * agent_json.c - fuzz target: the input is two versions of an agent's JSON file, with a NUL between them.
 *
 * Whatever they hold, the second is read or asked about; nothing changes from a version to itself; what lands
 * is JSON, and lands again after it has landed; and no server comes in that was not there before.
 */
#include <stdint.h>
#include <string.h>

#include "guard.h"
#include "base/escape.h"
#include "base/json_read.h"

static bool nowhere(void *context, const char *path)
{
	(void)context;
	(void)path;
	return false;
}

static enum sb_guard_verdict judge(struct sb_guard_bytes old_bytes, struct sb_guard_bytes new_bytes)
{
	char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];
	enum sb_guard_verdict verdict;

	verdict =
		sb_guard_content(guard_in(nowhere),
				 &(struct sb_guard_landing){SB_GUARD_AGENT_JSON, "/x/.claude.json",
							    old_bytes, new_bytes},
				 why, sizeof why);
	CHECK((verdict == SB_GUARD_PLAIN) == !why[0]);
	for (size_t at = 0, length = strlen(why), step; at < length; at += step) {
		step = why[at] == '\n' ? 1 : sb_utf8_visible(why + at, length - at);
		CHECK(step || length - at < 4); /* the line may be cut within a character */
		if (!step)
			break;
	}
	return verdict;
}

/* Members lie one behind the other, in what they are in. */
static void check_tree(const struct sb_json_tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct sb_json_node *node = &tree->nodes[i], *child;
		uint32_t count = 0;

		CHECK(node->end > i && node->end <= tree->count && node->raw_length);
		for (child = sb_json_first(node); child; child = sb_json_next(tree, node, child)) {
			count++;
			CHECK(child->raw > node->raw &&
			      child->raw + child->raw_length < node->raw + node->raw_length);
			if (node->type == SB_JSON_OBJECT)
				CHECK(sb_json_member(tree, node, child->key, child->key_length) ==
				      child);
		}
		CHECK(count == node->count);
	}
	CHECK(sb_json_same(tree, tree->nodes, tree, tree->nodes));
}

static const struct sb_json_node *servers_of(const struct sb_json_tree *tree)
{
	return tree->count ? sb_json_member(tree, tree->nodes, "mcpServers", 10) : NULL;
}

static void check_servers(const struct sb_json_tree *before, const struct sb_json_tree *after)
{
	const struct sb_json_node *old = servers_of(before), *new = servers_of(after), *server;

	if (!new || new->type != SB_JSON_OBJECT)
		return;
	for (server = sb_json_first(new); server; server = sb_json_next(after, new, server)) {
		const struct sb_json_node *was =
			old ? sb_json_member(before, old, server->key, server->key_length) : NULL;

		CHECK(server->type != SB_JSON_STRING || !server->length ||
		      (was && sb_json_same(before, was, after, server)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
	struct sb_guard_bytes old_bytes = {(const char *)data, nul ? (size_t)(nul - data) : 0};
	struct sb_guard_bytes new_bytes = {nul ? (const char *)nul + 1 : (const char *)data,
					   nul ? size - old_bytes.length - 1 : size};
	struct sb_json_tree before = {0}, after = {0};
	enum sb_guard_verdict verdict;

	if (!data)
		return 0;
	verdict = judge(old_bytes, new_bytes);
	CHECK(judge(new_bytes, new_bytes) == SB_GUARD_PLAIN);
	CHECK(judge(old_bytes, old_bytes) == SB_GUARD_PLAIN);
	sb_json_read(old_bytes.bytes, old_bytes.length, &before);
	sb_json_read(new_bytes.bytes, new_bytes.length, &after);
	if (before.count)
		check_tree(&before);
	if (after.count)
		check_tree(&after);
	if (verdict == SB_GUARD_PLAIN && new_bytes.length)
		CHECK(after.count ||
		      (old_bytes.length == new_bytes.length &&
		       memcmp(old_bytes.bytes, new_bytes.bytes, new_bytes.length) == 0));
	if (verdict == SB_GUARD_PLAIN)
		check_servers(&before, &after);
	sb_json_tree_done(&before);
	sb_json_tree_done(&after);
	return 0;
}
