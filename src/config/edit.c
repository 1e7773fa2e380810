#include "config/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/words.h"
#include "config/file.h"
#include "config/rules.h"
#include "policy/peer.h"
#include "policy/text.h"

/* Does this line hold a rule for pattern?  If so *out_access is what it gives. */
static bool is_rule_for(const struct sb_home *home, const char *bytes, size_t length,
			const char *pattern, struct sb_access *out_access)
{
	const struct sb_rule_base base = {.directory = home->cwd, .home = home->home};
	SB_AUTO(sb_resolved_done) struct sb_resolved resolved = {0};
	SB_AUTO(sb_line_done) struct sb_line line = {0};
	bool same = false;

	if (sb_line_parse(bytes, length, &line, NULL) != SB_OK)
		return false;
	if (line.kind == SB_LINE_RULE &&
	    sb_rule_resolve(&base, line.text, &resolved, NULL) == SB_OK) {
		same = strcmp(resolved.pattern, pattern) == 0;
		*out_access = line.access;
	}
	return same;
}

/* A bare path where that reads back as the same rule, else "write ..." quoted. */
static void append_rule(struct sb_buf *text, const struct sb_access *access, const char *pattern)
{
	SB_AUTO_BUF struct sb_buf rule = SB_BUF(SB_CONFIG_LIMIT);
	const char *bare = "";

	sb_rule_print(access, pattern, &rule);
	if (sb_access_equal(access, &sb_access_write) && !sb_buf_failed(&rule))
		bare = rule.data + strlen("write ");
	if (text->length && text->data[text->length - 1] != '\n')
		sb_buf_putc(text, '\n');
	sb_buf_puts(text, *bare == '/' ? bare : rule.data);
	sb_buf_putc(text, '\n');
}

/*
 * What is given is a path: a name with an asterisk is that name, before the file is there and after.  Else a rule that was
 * added for one would be about others, and could not be removed any more once there is the file.
 */
static int find(const struct sb_home *home, const char *path, struct sb_resolved *out,
		struct sb_error *err)
{
	const char *const roots[] = {home->cwd, NULL};
	const struct sb_rule_base base = {
		.directory = home->cwd, .home = home->home, .is_literal = true, .roots = roots};
	int status = sb_rule_resolve(&base, path, out, err);

	/* what is written down counts for ever, whatever the link will lead to */
	if (status == SB_OK && out->through) {
		sb_fail(err, SB_E_REFUSED, 0,
			"cannot use '%s': on the way is the link '%s', which a command could have made",
			path, out->through);
		sb_hint(err, "name what it leads to: '%s'", out->pattern);
		sb_resolved_done(out);
		return SB_E_REFUSED;
	}
	if (status == SB_OK && strlen(out->pattern) >= 4096) {
		sb_resolved_done(out);
		status = sb_fail(err, SB_E_INVALID, ENAMETOOLONG, "the path is too long");
	}
	return status;
}

/* Copy text to out without the lines for pattern; returns how many there were. */
static size_t without_rule(const struct sb_home *home, const struct sb_buf *text,
			   const char *pattern, struct sb_buf *out)
{
	struct sb_text_lines line = sb_text_lines(text->data, text->length);
	size_t removed = 0;

	while (sb_next_line(&line)) {
		struct sb_access access;

		if (is_rule_for(home, line.text, line.length, pattern, &access))
			removed++;
		else
			sb_buf_append(out, line.text, (size_t)(line.at - line.text));
	}
	return removed;
}

/* The same of a rule with wildcards, which somebody has written there, by its own text. */
static bool without_pattern(const struct sb_home *home, const struct sb_buf *text, const char *path,
			    struct sb_buf *out)
{
	const struct sb_rule_base base = {.directory = home->cwd, .home = home->home};
	SB_AUTO(sb_resolved_done) struct sb_resolved resolved = {0};

	if (!strpbrk(path, "*?[\\") || sb_rule_resolve(&base, path, &resolved, NULL) != SB_OK)
		return false;
	out->length = 0;
	return without_rule(home, text, resolved.pattern, out) > 0;
}

static bool has_rule(const struct sb_home *home, const struct sb_buf *text,
		     const struct sb_access *wanted, const char *pattern, bool *out_other)
{
	struct sb_text_lines line = sb_text_lines(text->data, text->length);
	bool found = false;

	*out_other = false;
	while (sb_next_line(&line)) {
		struct sb_access access;

		if (is_rule_for(home, line.text, line.length, pattern, &access)) {
			bool same = sb_access_equal(&access, wanted);

			found |= same;
			*out_other |= !same;
		}
	}
	return found;
}

int sb_config_add_rule(const struct sb_home *home, const char *file, const struct sb_access *access,
		       const char *path, struct sb_config_added *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	SB_AUTO(sb_resolved_done) struct sb_resolved resolved = {0};
	SB_AUTO_FD int lock = -1;
	bool found, other, changed = false;
	int status;

	status = find(home, path, &resolved, err);
	if (status != SB_OK)
		return status;
	status = sb_config_lock(file, &lock, err);
	if (status == SB_OK)
		status = sb_config_read(file, &text, &found, err);
	if (status == SB_OK) {
		changed = !has_rule(home, &text, access, resolved.pattern, &other);
		if (other) {
			sb_fail(err, SB_E_CONFLICT, 0, "'%s' has another rule for '%s'", file,
				resolved.pattern);
			status = sb_hint(err, "remove it first: sandbash --remove-path '%s'", path);
		}
	}
	if (changed && status == SB_OK) {
		append_rule(&text, access, resolved.pattern);
		status =
			sb_buf_failed(&text)
				? sb_fail(err, SB_E_INVALID, 0, "'%s' would become too large", file)
				: sb_config_replace(file, text.data, text.length, err);
	}
	if (status == SB_OK)
		*out = (struct sb_config_added){.pattern = sb_take_ptr(&resolved.pattern),
						.changed = changed,
						.missing = resolved.is_glob ? 0 : resolved.missing};
	return status;
}

/* The verdict of a line about this very host; -1: it is about something else. */
static int verdict_for(const char *bytes, size_t length, const char *host)
{
	struct sb_peer_pattern pattern;
	SB_AUTO(sb_line_done) struct sb_line line = {0};
	int verdict = -1;

	if (sb_line_parse(bytes, length, &line, NULL) != SB_OK)
		return -1;
	if (line.kind == SB_LINE_CONNECT &&
	    sb_peer_pattern_parse(line.text, &pattern, NULL) == SB_OK &&
	    strcmp(pattern.text, host) == 0)
		verdict = line.value;
	return verdict;
}

int sb_config_add_host(const char *file, const char *text, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_CONFIG_LIMIT);
	SB_AUTO_FD int lock = -1;
	struct sb_text_lines line;
	bool found;
	int status = sb_config_lock(file, &lock, err);

	if (status == SB_OK)
		status = sb_config_read(file, &bytes, &found, err);
	if (status != SB_OK)
		return status;
	line = sb_text_lines(bytes.data, bytes.length);
	while (sb_next_line(&line)) {
		int verdict = verdict_for(line.text, line.length, text);

		if (verdict == SB_ALLOW)
			return SB_OK;
		if (verdict >= 0)
			return sb_fail(err, SB_E_CONFLICT, 0, "'%s' has another rule for '%s'",
				       file, text);
	}
	if (bytes.length && bytes.data[bytes.length - 1] != '\n')
		sb_buf_putc(&bytes, '\n');
	sb_buf_printf(&bytes, "connect %s\n", text);
	return sb_buf_failed(&bytes)
		       ? sb_fail(err, SB_E_INVALID, 0, "'%s' would become too large", file)
		       : sb_config_replace(file, bytes.data, bytes.length, err);
}

int sb_config_remove_path(const struct sb_home *home, const char *file, const char *path,
			  char **out_pattern, bool *out_changed, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	SB_AUTO_BUF struct sb_buf kept = SB_BUF(SB_CONFIG_LIMIT);
	SB_AUTO(sb_resolved_done) struct sb_resolved resolved = {0};
	SB_AUTO_FD int lock = -1;
	bool found;
	int status;

	status = find(home, path, &resolved, err);
	if (status != SB_OK)
		return status;
	status = sb_config_read(file, &text, &found, err);
	if (status == SB_OK && found) {
		text.length = 0;
		status = sb_config_lock(file, &lock, err);
		if (status == SB_OK)
			status = sb_config_read(file, &text, &found, err);
	}
	if (status == SB_OK) {
		*out_changed = without_rule(home, &text, resolved.pattern, &kept) > 0 ||
			       without_pattern(home, &text, path, &kept);
		if (*out_changed)
			status = sb_config_replace(file, kept.data, kept.length, err);
	}
	if (status == SB_OK)
		*out_pattern = sb_take_ptr(&resolved.pattern);
	return status;
}

int sb_config_touch(const char *file, struct sb_error *err)
{
	SB_AUTO_FD int lock = -1;
	SB_AUTO_FD int fd = -1;
	int status = sb_config_lock(file, &lock, err);

	if (status != SB_OK)
		return status;
	fd = open(file, O_WRONLY | O_CREAT | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0600);
	return fd < 0 ? sb_fail(err, SB_E_SYSTEM, errno, "cannot create '%s'", file) : SB_OK;
}
