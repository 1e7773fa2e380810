/* tool_list.c - looking: directories, trees, one file's facts. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/auto.h"
#include "base/buf.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/rpc.h"
#include "search/search.h"

#define TEXT_MAX (512 * 1024 * 1024)
#define WORDS_MAX (64 * 1024) /* two lines, indented as deep as trees go */

static const char *tag(const struct sb_files_entry *entry)
{
	return entry->type == SB_FILES_DIRECTORY ? "[DIR] " : "[FILE] ";
}

static json_t *finish(struct sb_buf *text, bool truncated)
{
	if (truncated)
		sb_buf_puts(text, "\n[cut: there are more]");
	if (sb_buf_failed(text))
		return NULL; /* out of memory */
	return sb_tool_said(text, NULL);
}

json_t *sb_tool_list(struct sb_tool_call *call)
{
	struct sb_files_list_request request = {.size = sizeof request,
						.path = sb_get_text(call->args, "path")};
	SB_AUTO_BUF struct sb_buf text = SB_BUF(TEXT_MAX);
	SB_AUTO_ENTRIES struct sb_files_entries entries = {0};

	if (sb_files_list(call->view, call->caller, &request, &entries, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	for (size_t i = 0; i < entries.count; i++) {
		sb_buf_puts(&text, tag(&entries.all[i]));
		sb_buf_puts(&text, entries.all[i].name);
		if (i + 1 < entries.count)
			sb_buf_putc(&text, '\n');
	}
	return finish(&text, entries.truncated);
}

/* "1.50 KB", as the reference server prints it. */
static void size_text(uint64_t bytes, char out[40])
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit < 4) {
		value /= 1024;
		unit++;
	}
	if (unit == 0)
		snprintf(out, 40, "%llu B", (unsigned long long)bytes);
	else
		snprintf(out, 40, "%.2f %s", value, units[unit]);
}

/* "%-30s %10s\n" */
static void put_padded(struct sb_buf *text, const char *name, const char *size)
{
	static const char blanks[] = "                              ";
	size_t length = strlen(name), short_by = strlen(size);

	sb_buf_append(text, name, length);
	if (length < 30)
		sb_buf_append(text, blanks, 30 - length);
	sb_buf_append(text, blanks, short_by < 10 ? 11 - short_by : 1);
	sb_buf_append(text, size, short_by);
	sb_buf_putc(text, '\n');
}

json_t *sb_tool_list_sizes(struct sb_tool_call *call)
{
	const char *sort = sb_get_text(call->args, "sortBy");
	struct sb_files_list_request request = {
		.size = sizeof request,
		.path = sb_get_text(call->args, "path"),
		.details = true,
		.sort = sort && strcmp(sort, "size") == 0 ? SB_FILES_BY_SIZE : SB_FILES_BY_NAME,
	};
	SB_AUTO_BUF struct sb_buf text = SB_BUF(TEXT_MAX);
	SB_AUTO_ENTRIES struct sb_files_entries entries = {0};
	size_t files = 0, directories = 0;
	uint64_t total = 0;
	char size[40];

	if (sb_files_list(call->view, call->caller, &request, &entries, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	for (size_t i = 0; i < entries.count; i++) {
		const struct sb_files_entry *entry = &entries.all[i];

		size[0] = '\0';
		if (entry->type == SB_FILES_DIRECTORY) {
			directories++;
		} else {
			files++;
			total += entry->bytes;
			size_text(entry->bytes, size);
		}
		sb_buf_puts(&text, tag(entry));
		put_padded(&text, entry->name, size);
	}
	size_text(total, size);
	sb_buf_printf(&text, "\nTotal: %zu files, %zu directories\nCombined size: %s", files,
		      directories, size);
	return finish(&text, entries.truncated);
}

/* --- trees --------------------------------------------------------------------------------------- */

static void indent(struct sb_buf *text, size_t depth)
{
	static const char blanks[] =
		"                                                              ";

	for (size_t left = 2 * depth; left;) {
		size_t part = left < sizeof blanks - 1 ? left : sizeof blanks - 1;

		sb_buf_append(text, blanks, part);
		left -= part;
	}
}

/* Most names are plain; the others are JSON's to write. */
static void quoted(struct sb_buf *text, const char *name)
{
	size_t length = strlen(name), plain = 0;
	SB_AUTO_FREE char *dumped = NULL;
	char between[NAME_MAX + 3];
	json_auto_t *string = NULL;

	while (plain < length && name[plain] >= ' ' && name[plain] < 0x7f && name[plain] != '"' &&
	       name[plain] != '\\')
		plain++;
	if (plain == length && length + 2 <= sizeof between) {
		between[0] = between[length + 1] = '"';
		memcpy(between + 1, name, length);
		sb_buf_append(text, between, length + 2);
		return;
	}
	string = sb_rpc_string(name);
	dumped = json_dumps(string, JSON_ENCODE_ANY);
	sb_buf_puts(text, dumped ? dumped : "\"\"");
}

/* The end of the arrays and objects between two depths. */
static void close_levels(struct sb_buf *text, size_t from, size_t to)
{
	for (size_t depth = from; depth > to; depth--) {
		sb_buf_putc(text, '\n');
		indent(text, 2 * depth - 2 + 2);
		sb_buf_puts(text, "]\n");
		indent(text, 2 * depth - 2 + 1);
		sb_buf_putc(text, '}');
	}
}

/* What stands around the names of one depth, made when the depth changes. */
struct around {
	size_t depth;
	struct sb_buf before, file, directory;
};

static void around_done(struct around *around)
{
	sb_buf_done(&around->before);
	sb_buf_done(&around->file);
	sb_buf_done(&around->directory);
}

static void around_make(struct around *around, size_t depth)
{
	size_t level = 2 * depth + 1;

	around->depth = depth;
	around->before.length = around->file.length = around->directory.length = 0;
	sb_buf_putc(&around->before, '\n');
	indent(&around->before, level);
	sb_buf_puts(&around->before, "{\n");
	indent(&around->before, level + 1);
	sb_buf_puts(&around->before, "\"name\": ");
	sb_buf_puts(&around->file, ",\n");
	indent(&around->file, level + 1);
	sb_buf_puts(&around->file, "\"type\": \"file\"\n");
	indent(&around->file, level);
	sb_buf_putc(&around->file, '}');
	sb_buf_puts(&around->directory, ",\n");
	indent(&around->directory, level + 1);
	sb_buf_puts(&around->directory, "\"type\": \"directory\",\n");
	indent(&around->directory, level + 1);
	sb_buf_puts(&around->directory, "\"children\": [");
}

static void put(struct sb_buf *text, const struct sb_buf *words)
{
	sb_buf_append(text, words->data, words->length);
}

/* As JSON.stringify(tree, null, 2) would print it; entries come parents first. */
static void print_tree(const struct sb_files_entries *entries, struct sb_buf *text)
{
	__attribute__((cleanup(around_done))) struct around around = {
		SIZE_MAX, SB_BUF(WORDS_MAX), SB_BUF(WORDS_MAX), SB_BUF(WORDS_MAX)};
	size_t open = 0; /* how many directories have an open children array */

	if (!entries->count) {
		sb_buf_puts(text, "[]");
		return;
	}
	sb_buf_putc(text, '[');
	for (size_t i = 0; i < entries->count; i++) {
		const struct sb_files_entry *entry = &entries->all[i];
		bool children = i + 1 < entries->count && entries->all[i + 1].depth > entry->depth;

		close_levels(text, open, entry->depth);
		if (i && entries->all[i - 1].depth >= entry->depth)
			sb_buf_putc(text, ',');
		open = entry->depth;
		if (around.depth != open)
			around_make(&around, open);
		put(text, &around.before);
		quoted(text, entry->name);
		if (entry->type != SB_FILES_DIRECTORY) {
			put(text, &around.file);
			continue;
		}
		put(text, &around.directory);
		if (children) {
			open = entry->depth + 1;
			continue;
		}
		sb_buf_puts(text, "]\n");
		indent(text, 2 * open + 1);
		sb_buf_putc(text, '}');
	}
	close_levels(text, open, 0);
	sb_buf_puts(text, "\n]");
	if (sb_buf_failed(&around.before) || sb_buf_failed(&around.file) ||
	    sb_buf_failed(&around.directory))
		text->failed = true;
}

/* Globs of what to leave out; a word without "*" is meant at any depth, as the reference has it. */
struct excludes {
	struct sb_glob **globs;
	size_t count;
};

static void excludes_done(struct excludes *excludes)
{
	for (size_t i = 0; i < excludes->count; i++)
		sb_glob_free(excludes->globs[i]);
	free(excludes->globs);
}

static int exclude(struct excludes *to, const char *before, const char *pattern,
		   struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(8192);
	int status;

	sb_buf_printf(&text, "%s%s", before, pattern);
	status = sb_glob_new(text.data, SB_GLOB_MINIMATCH, &to->globs[to->count], err);
	to->count += status == SB_OK;
	return status;
}

static int excludes_make(const json_t *args, struct excludes *out, struct sb_error *err)
{
	SB_AUTO_FREE const char **patterns = sb_arg_list(args, "excludePatterns");
	int status = SB_OK;

	for (size_t i = 0; patterns && patterns[i] && status == SB_OK; i++) {
		struct sb_glob **grown =
			reallocarray(out->globs, out->count + 2, sizeof(struct sb_glob *));

		if (!grown)
			return sb_no_memory(err);
		out->globs = grown;
		status = exclude(out, "", patterns[i], err);
		if (status == SB_OK && !strchr(patterns[i], '*'))
			status = exclude(out, "**/", patterns[i], err);
	}
	return status;
}

static bool is_kept(void *context, const char *relative, enum sb_files_type type)
{
	const struct excludes *excludes = context;

	for (size_t i = 0; i < excludes->count; i++)
		if (sb_glob_match(excludes->globs[i], relative, type == SB_FILES_DIRECTORY))
			return false;
	return true;
}

json_t *sb_tool_tree(struct sb_tool_call *call)
{
	__attribute__((cleanup(excludes_done))) struct excludes excludes = {0};
	struct sb_files_list_request request = {.size = sizeof request,
						.path = sb_get_text(call->args, "path")};
	SB_AUTO_BUF struct sb_buf text = SB_BUF(TEXT_MAX);
	SB_AUTO_ENTRIES struct sb_files_entries entries = {0};
	struct sb_error err;

	if (excludes_make(call->args, &excludes, &err) != SB_OK)
		return sb_tool_sb_error(&err);
	if (excludes.count) {
		request.keep = is_kept;
		request.context = &excludes;
	}
	if (sb_files_tree(call->view, call->caller, &request, &entries, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	print_tree(&entries, &text);
	return sb_buf_failed(&text)
		       ? NULL
		       : sb_tool_said(&text, entries.truncated ? json_pack("{s:b}", "truncated", 1)
							       : NULL);
}

/* --- one file ------------------------------------------------------------------------------------- */

/* "Sun Nov 15 2026 21:03:01 GMT+0000 (Coordinated Universal Time)": a JavaScript Date as text. */
static void put_time(struct sb_buf *text, const char *name, const struct timespec *when)
{
	struct tm broken;
	char out[80] = "unknown";

	if (when->tv_sec && gmtime_r(&when->tv_sec, &broken))
		strftime(out, sizeof out,
			 "%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)", &broken);
	sb_buf_printf(text, "%s: %s\n", name, out);
}

json_t *sb_tool_info(struct sb_tool_call *call)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);
	struct sb_files_info info;

	if (sb_files_stat(call->view, call->caller, sb_get_text(call->args, "path"), true, &info,
			  &call->err) != 0)
		return sb_tool_files_error(&call->err);
	sb_buf_printf(&text, "size: %llu\n", (unsigned long long)info.bytes);
	put_time(&text, "created", &info.born);
	put_time(&text, "modified", &info.modified);
	put_time(&text, "accessed", &info.accessed);
	sb_buf_printf(&text, "isDirectory: %s\nisFile: %s\npermissions: %03o",
		      info.type == SB_FILES_DIRECTORY ? "true" : "false",
		      info.type == SB_FILES_FILE ? "true" : "false", info.mode & 0777);
	return sb_tool_said(&text, NULL);
}
