/*
 * diff.c - Myers' algorithm (An O(ND) Difference Algorithm, 1986) on lines.
 *
 * What both texts begin and end with is put aside first.  The number of differences is
 * bounded: memory grows with its square.  Beyond it, all that is between counts as changed.
 */
#include "files/diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/words.h"

#define MAX_DIFFERENCES 1500 /* 9 MB of trace */
#define AROUND 3

struct line {
	const char *text;
	size_t length; /* with its \n */
	uint64_t hash;
};

struct lines {
	struct line *all;
	size_t count;
};

/* For each line: is it kept? */
struct comparison {
	struct lines old, new;
	bool *old_gone, *new_come;
};

static bool split(const struct sb_buf *bytes, struct lines *out)
{
	struct sb_text_lines line = sb_text_lines(bytes->data, bytes->length);
	size_t count = 0;

	while (sb_next_line(&line))
		count++;
	out->all = calloc(count + 1, sizeof *out->all);
	if (!out->all)
		return false;
	line = sb_text_lines(bytes->data, bytes->length);
	for (out->count = 0; sb_next_line(&line); out->count++) {
		size_t size = (size_t)(line.at - line.text); /* with its newline */

		out->all[out->count] =
			(struct line){line.text, size, sb_fnv(SB_FNV, line.text, size)};
	}
	return true;
}

static bool is_same(const struct line *a, const struct line *b)
{
	return a->hash == b->hash && a->length == b->length &&
	       memcmp(a->text, b->text, a->length) == 0;
}

#define NOWHERE (-1) /* no way with that many differences leads to this diagonal */

/*
 * The furthest x on diagonal k that one more difference reaches, before equal lines are
 * skipped; *down: by a line that came, not by one that went.
 */
static int reach(const int *before, int k, int n, int m, bool *down)
{
	int came = before[k + 1], went = before[k - 1] == NOWHERE ? NOWHERE : before[k - 1] + 1;

	if (came != NOWHERE && came - k > m)
		came = NOWHERE;
	if (went > n)
		went = NOWHERE;
	*down = came >= went;
	return *down ? came : went;
}

/* Go back along the trace and mark what is not on the diagonals. */
static void mark(struct comparison *all, int *const *trace, int d, int n, int m, size_t skip)
{
	for (int x = n, y = m; d > 0; d--) {
		const int *before = trace[d - 1] + d + 1;
		int k = x - y;
		bool down;

		reach(before, k, n, m, &down);
		x = before[down ? k + 1 : k - 1];
		y = x - (down ? k + 1 : k - 1);
		if (down)
			all->new_come[skip + (size_t)y] = true;
		else
			all->old_gone[skip + (size_t)x] = true;
	}
}

/* One more difference; true: the ends are reached. */
static bool advance(const struct lines *old, const struct lines *new, int d, const int *before,
		    int *now)
{
	int n = (int)old->count, m = (int)new->count;

	for (int k = -d; k <= d; k += 2) {
		bool down;
		int x = d ? reach(before, k, n, m, &down) : 0;

		if (x == NOWHERE)
			continue;
		while (x < n && x - k < m && is_same(&old->all[x], &new->all[x - k]))
			x++;
		now[k] = x;
		if (x == n && x - k == m)
			return true;
	}
	return false;
}

/* The differences between old[skip..skip+n) and new[skip..skip+m).  -1: memory, 0: too many. */
static int compare(struct comparison *all, size_t skip, int n, int m)
{
	int limit = n + m < MAX_DIFFERENCES ? n + m : MAX_DIFFERENCES, result = 0;
	const struct lines old = {all->old.all + skip, (size_t)n};
	const struct lines new = {all->new.all + skip, (size_t)m};
	SB_AUTO_FREE int **trace = calloc((size_t)limit + 1, sizeof *trace);

	if (!trace)
		return -1;
	for (int d = 0; d <= limit && result == 0; d++) {
		size_t width = (size_t)d * 2 + 5; /* -(d+2) to d+2: neighbours need no care */
		int *now = malloc(width * sizeof *now);

		trace[d] = now;
		if (!now) {
			result = -1;
			break;
		}
		for (size_t i = 0; i < width; i++)
			now[i] = NOWHERE;
		if (advance(&old, &new, d, d ? trace[d - 1] + d + 1 : NULL, now + d + 2)) {
			mark(all, trace, d, n, m, skip);
			result = 1;
		}
	}
	for (int i = 0; i <= limit; i++)
		free(trace[i]);
	return result;
}

static bool find_changes(struct comparison *all)
{
	size_t skip = 0, n = all->old.count, m = all->new.count;
	int found;

	while (skip < n && skip < m && is_same(&all->old.all[skip], &all->new.all[skip]))
		skip++;
	while (n > skip && m > skip && is_same(&all->old.all[n - 1], &all->new.all[m - 1]))
		n--, m--;
	found = n - skip > INT32_MAX / 4 || m - skip > INT32_MAX / 4
			? 0
			: compare(all, skip, (int)(n - skip), (int)(m - skip));
	if (found == 0) {
		memset(all->old_gone + skip, true, n - skip);
		memset(all->new_come + skip, true, m - skip);
	}
	return found >= 0;
}

static void put_line(struct sb_buf *out, char sign, const struct line *line)
{
	sb_buf_putc(out, sign);
	sb_buf_append(out, line->text, line->length);
	if (line->length == 0 || line->text[line->length - 1] != '\n')
		sb_buf_puts(out, "\n\\ No newline at end of file\n");
}

static void put_range(struct sb_buf *out, char sign, size_t from, size_t count)
{
	sb_buf_printf(out, "%c%zu", sign, count ? from + 1 : from);
	if (count != 1)
		sb_buf_printf(out, ",%zu", count);
}

/* The lines from (i, j) up to (i_end, j_end). */
static void put_hunk(const struct comparison *all, size_t i, size_t i_end, size_t j, size_t j_end,
		     struct sb_buf *out)
{
	sb_buf_puts(out, "@@ ");
	put_range(out, '-', i, i_end - i);
	sb_buf_putc(out, ' ');
	put_range(out, '+', j, j_end - j);
	sb_buf_puts(out, " @@\n");
	while (i < i_end || j < j_end) {
		if (i < i_end && all->old_gone[i])
			put_line(out, '-', &all->old.all[i++]);
		else if (j < j_end && all->new_come[j])
			put_line(out, '+', &all->new.all[j++]);
		else
			put_line(out, ' ', &all->old.all[i++]), j++;
	}
}

static bool is_change(const struct comparison *all, size_t i, size_t j)
{
	return (i < all->old.count && all->old_gone[i]) || (j < all->new.count && all->new_come[j]);
}

static void put_hunks(const struct comparison *all, struct sb_buf *out)
{
	size_t i = 0, j = 0, n = all->old.count, m = all->new.count;

	while (i < n || j < m) {
		size_t start, quiet = 0, first_i, first_j, end_i, end_j;

		if (!is_change(all, i, j)) {
			i++, j++;
			continue;
		}
		start = i < AROUND ? i : AROUND; /* lines before a change are the same in both */
		if (start > j)
			start = j;
		first_i = i - start;
		first_j = j - start;
		end_i = i;
		end_j = j;
		while ((i < n || j < m) && quiet <= 2 * AROUND) {
			if (i < n && all->old_gone[i]) {
				i++;
				quiet = 0;
			} else if (j < m && all->new_come[j]) {
				j++;
				quiet = 0;
			} else {
				i++, j++, quiet++;
				continue;
			}
			end_i = i;
			end_j = j;
		}
		for (size_t more = 0; more < AROUND && end_i < n && end_j < m; more++)
			end_i++, end_j++;
		put_hunk(all, first_i, end_i, first_j, end_j, out);
		i = end_i;
		j = end_j;
	}
}

bool sb_diff(const char *from, const char *to, const struct sb_buf *old, const struct sb_buf *new,
	     struct sb_buf *out)
{
	struct comparison all = {0};
	bool fine = split(old, &all.old) && split(new, &all.new);

	if (fine) {
		all.old_gone = calloc(all.old.count + 1, 1);
		all.new_come = calloc(all.new.count + 1, 1);
		fine = all.old_gone && all.new_come && find_changes(&all);
	}
	if (fine &&
	    (old->length != new->length || memcmp(old->data, new->data, old->length) != 0)) {
		sb_buf_printf(out, "--- %s\n+++ %s\n", from, to);
		put_hunks(&all, out);
	}
	free(all.old_gone);
	free(all.new_come);
	free(all.old.all);
	free(all.new.all);
	return fine;
}
