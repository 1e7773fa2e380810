#include "cli/learn_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/list.h"
#include "path/path.h"

/* Is name one of those in the list? */
static bool lists(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == ',' || !at[length]))
			return true;
	return false;
}

/* names: one, or several with ", " between them.  What finds no room is "...". */
static void add_programs(char *list, size_t size, const char *names)
{
	while (*names) {
		size_t length = strcspn(names, ","), used = strlen(list);
		char name[40];

		snprintf(name, sizeof name, "%.*s", (int)length, names);
		names += length + strspn(names + length, ", ");
		if (lists(list, name))
			continue;
		if (used + strlen(name) + sizeof ", ..." + 2 > size)
			snprintf(name, sizeof name, "...");
		if (!lists(list, name))
			snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
	}
}

static void free_need(struct sb_need *need)
{
	free(need->path);
	free(need->overrules);
}

void sb_learned_done(struct sb_learned *needs)
{
	for (size_t i = 0; i < needs->count; i++)
		free_need(&needs->all[i]);
	free(needs->all);
	*needs = (struct sb_learned){0};
}

int sb_learned_add(struct sb_learned *needs, const struct sb_need *need, const char *program,
		   struct sb_error *err)
{
	struct sb_need copy = *need;
	char name[32] = "", *comma;

	if (!SB_GROW(needs->all, needs->count))
		return sb_no_memory(err);
	copy.path = strdup(need->path);
	copy.overrules = need->overrules ? strdup(need->overrules) : NULL;
	if (!copy.path || !copy.overrules != !need->overrules) {
		free_need(&copy);
		return sb_no_memory(err);
	}
	if (program)
		sb_escape_line(name, sizeof name, program);
	while ((comma = strpbrk(name, ", "))) /* it is one name in a list of them */
		*comma = '_';
	copy.programs[0] = '\0';
	add_programs(copy.programs, sizeof copy.programs, name);
	needs->all[needs->count++] = copy;
	return SB_OK;
}

/* What from was for, into is for; from's strings are released. */
static void take_over(struct sb_need *into, struct sb_need *from)
{
	into->count += from->count;
	into->names += from->names;
	into->known &= from->known;
	add_programs(into->programs, sizeof into->programs, from->programs);
	if (!into->overrules)
		into->overrules = sb_take_ptr(&from->overrules);
	free_need(from);
	*from = (struct sb_need){0};
}

static void remove_gaps(struct sb_learned *needs)
{
	size_t kept = 0;

	for (size_t i = 0; i < needs->count; i++)
		if (needs->all[i].path)
			needs->all[kept++] = needs->all[i];
	needs->count = kept;
}

static int by_path(const void *a, const void *b)
{
	const struct sb_need *first = a, *second = b;

	return sb_path_compare(first->path, second->path);
}

static void sort(struct sb_learned *needs)
{
	if (needs->count)
		qsort(needs->all, needs->count, sizeof *needs->all, by_path);
}

/* Needs for one path are one. */
static void join_same(struct sb_learned *needs)
{
	size_t first = 0;

	sort(needs);
	for (size_t i = 1; i < needs->count; i++) {
		struct sb_need *into = &needs->all[first], *from = &needs->all[i];

		if (strcmp(into->path, from->path) != 0) {
			first = i;
			continue;
		}
		into->ops |= from->ops;
		/* names of one are names of the other */
		from->names = into->names > from->names ? 0 : from->names - into->names;
		if (!into->cache)
			into->cache = from->cache;
		take_over(into, from);
	}
	remove_gaps(needs);
}

static bool only_reads(const struct sb_need *need)
{
	return need->ops == 1u << SB_READ;
}

/* How much of the path is its directory; 1 for "/". */
static size_t directory_length(const char *path)
{
	size_t length = (size_t)(strrchr(path, '/') - path);

	return length ? length : 1;
}

/* By directory, those that only read apart, and those behind that stay as they are. */
static int by_directory(const void *a, const void *b)
{
	const struct sb_need *first = a, *second = b;
	size_t left = directory_length(first->path), right = directory_length(second->path);
	int order = (int)first->alone - (int)second->alone;

	if (!order)
		order = (int)only_reads(first) - (int)only_reads(second);
	if (!order)
		order = memcmp(first->path, second->path, left < right ? left : right);
	if (!order)
		order = left < right ? -1 : left > right;
	return order ? order : strcmp(first->path, second->path);
}

static bool are_beside(const struct sb_need *a, const struct sb_need *b)
{
	size_t length = directory_length(a->path);

	return a->alone == b->alone && only_reads(a) == only_reads(b) &&
	       length == directory_length(b->path) && memcmp(a->path, b->path, length) == 0;
}

/* Needs that are beside each other: one for their directory, or none is asked about again. */
static int join_crowd(struct sb_need *into, struct sb_need *end, sb_may_open may_open,
		      void *context, bool *out_joined, struct sb_error *err)
{
	SB_AUTO_FREE char *directory = sb_path_parent(into->path);
	unsigned ops = 0;

	if (!directory)
		return sb_no_memory(err);
	for (struct sb_need *need = into; need < end; need++)
		ops |= need->ops;
	if (!may_open(context, directory, ops)) {
		for (struct sb_need *need = into; need < end; need++)
			need->alone = true;
		return SB_OK;
	}
	for (struct sb_need *need = into + 1; need < end; need++)
		take_over(into, need);
	free(into->path);
	into->path = sb_take_ptr(&directory);
	into->ops = ops;
	into->cache = NULL;
	*out_joined = true;
	return SB_OK;
}

/* Each round climbs one directory; one that was not let alone is not asked about again. */
static int join_crowds(struct sb_learned *needs, sb_may_open may_open, void *context,
		       struct sb_error *err)
{
	bool joined = true;

	while (joined && needs->count) {
		joined = false;
		qsort(needs->all, needs->count, sizeof *needs->all, by_directory);
		for (size_t i = 0, end; i < needs->count && !needs->all[i].alone; i = end) {
			int status = SB_OK;

			for (end = i + 1; end < needs->count; end++)
				if (!are_beside(&needs->all[i], &needs->all[end]))
					break;
			if (end - i >= SB_LEARN_CROWD)
				status = join_crowd(&needs->all[i], &needs->all[end], may_open,
						    context, &joined, err);
			if (status != SB_OK)
				return status;
		}
		remove_gaps(needs);
		join_same(needs);
	}
	return SB_OK;
}

/*
 * A rule beneath another one decides there alone: what it allows it has to allow as well, and if it allows
 * no more, it is not needed.
 */
static void drop_covered(struct sb_learned *needs)
{
	sort(needs);
	for (size_t i = 0; i < needs->count; i++) {
		struct sb_need *outer = &needs->all[i];

		for (size_t j = i + 1; outer->path && j < needs->count; j++) {
			struct sb_need *inner = &needs->all[j];

			if (!inner->path)
				continue;
			if (!sb_path_within(outer->path, inner->path))
				break; /* a tree's order: nothing beneath it follows */
			if (inner->ops & ~outer->ops)
				inner->ops |= outer->ops;
			else
				take_over(outer, inner);
		}
	}
	remove_gaps(needs);
}

int sb_learned_group(struct sb_learned *needs, sb_may_open may_open, void *context,
		     struct sb_error *err)
{
	int status;

	join_same(needs);
	drop_covered(needs);
	status = join_crowds(needs, may_open, context, err);
	drop_covered(needs);
	return status;
}

struct sb_access sb_learned_access(const struct sb_need *need)
{
	struct sb_access access = {0};

	for (int op = 0; op < SB_OP_COUNT; op++)
		access.verdict[op] = need->ops & 1u << op ? SB_ALLOW : SB_DENY;
	return access;
}
