/*
 * profile_cases.c - random policies as profiles for macOS, and what the judge says.
 *
 *     profile_cases SEED POLICIES CASES       an expression of Scheme for each policy:
 *         (policy RULES GUARD ((NAME . VALUE) ...) ((OPERATION PATH ALLOWED) ...))
 *
 *     profile_cases rules < FILE              the profile of these rules, without names that are guarded
 *
 * GUARD is #f where it is as for the policy before.  tests/lib/sbpl.scm reads them and decides for itself.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforce/darwin_profile.h"
#include "guard/fold.h"
#include "guard/option_name.h"
#include "judge/judge_impl.h"
#include "path/pattern.h"
#include "policy/folding.h"
#include "policy/text.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MARK "\n; names that a program outside"

static unsigned long long state;

static unsigned pick(unsigned count)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % count;
}

static const char *one_of(const char *const *words, size_t count)
{
	return words[pick((unsigned)count)];
}

static const char *const roots[] = {"/Users/u/p",   "/Users/u/p", "/Users/u/p/sub", "/Users/u/q",
				    "/private/tmp", "/Users/u",   "/Users/u/p-evil"};
static const char *const names[] = {"a",       "b.txt",   "sub",         "x y",       "\xc3\xa9",
				    "w(1)+.c", "it's\"q", "back\\slash", "new\nline", "[set]",
				    "..dots",  "a^$|{}",  "vendor",      ".env",      "secret"};
static const char *const globs[] = {"*",     "*.txt", "**",  "?",  "[a-c]",
				    "[!a]*", "s*b",   "*.*", "**", "x?y"};

static void append(char *out, size_t size, const char *text)
{
	size_t length = strlen(out);

	snprintf(out + length, size - length, "%s", text);
}

/* A path that the row means, in some case. */
static void add_row(char *out, size_t size, const char *pattern)
{
	append(out, size, "/");
	for (; *pattern; pattern++) {
		char c[2] = {*pattern, 0};

		if (strncmp(pattern, "<git>", 5) == 0) {
			append(out, size,
			       pick(4)   ? ".git"
			       : pick(2) ? ".git/modules/m"
					 : ".git/worktrees/w");
			pattern += 4;
		} else if (strncmp(pattern, "<option>", 8) == 0) {
			append(out, size, pick(2) ? "--exec=x" : "-e sh x");
			pattern += 7;
		} else if (strncmp(pattern, "**", 2) == 0) {
			append(out, size, pick(2) ? "deep" : "x/y");
			pattern++;
		} else if (*pattern == '*') {
			append(out, size, pick(3) ? "any" : "any.json");
		} else if (*pattern == '#') {
			append(out, size, "12");
		} else if (*pattern == '?') {
			append(out, size, "q");
		} else {
			if (!pick(40) && c[0] >= 'a' && c[0] <= 'z')
				c[0] ^= 0x20;
			append(out, size,
			       !pick(40) && c[0] == 'k'   ? "\xe2\x84\xaa"
			       : !pick(40) && c[0] == 's' ? "\xc5\xbf"
							  : c);
		}
	}
}

static void make_path(char *out, size_t size)
{
	size_t count;
	const struct sb_guard_row *rows;

	snprintf(out, size, "%s", one_of(roots, COUNT(roots)));
	for (unsigned i = pick(3); i; i--) {
		append(out, size, "/");
		append(out, size, one_of(names, COUNT(names)));
	}
	rows = pick(4) ? sb_guard_rows(&count) : sb_guard_git_rows(&count);
	if (pick(2))
		add_row(out, size, rows[pick((unsigned)count)].pattern);
	if (!pick(6)) /* something around it, or the beginning of it */
		*strrchr(out, '/') = '\0';
	if (!pick(12))
		append(out, size, "/more");
}

/* A pattern: like a path, with wildcards. */
static char *make_pattern(void)
{
	char path[512];
	char *pattern;

	if (pick(3)) {
		snprintf(path, sizeof path, "%s", one_of(roots, COUNT(roots)));
		for (unsigned i = pick(3); i; i--) {
			append(path, sizeof path, "/");
			append(path, sizeof path, one_of(names, COUNT(names)));
		}
	} else {
		make_path(path, sizeof path);
	}
	pattern = sb_pattern_escape(path);
	if (!pick(2)) {
		snprintf(path, sizeof path, "%s/%s", pattern, one_of(globs, COUNT(globs)));
		if (!pick(2)) {
			append(path, sizeof path, "/");
			append(path, sizeof path, pick(2) ? "secret" : ".git");
		}
		free(pattern);
		pattern = strdup(path);
	}
	return pattern;
}

/* Another case of some letter of it: the same file, where names fold. */
static bool change_case(char *path)
{
	size_t first = strlen("/Users/u/p/"), length = strlen(path);
	char *at = length > first ? path + first + pick((unsigned)(length - first)) : path;

	if (pick(2) || *at < 'a' || *at > 'z')
		return false;
	*at ^= 0x20;
	return true;
}

static struct sb_policy *make_policy(bool folds)
{
	static const char *const words[] = {
		"write",        "write", "write",       "read",
		"deny",         "ask",   "read+create", "read+modify+ask:delete",
		"create+delete"};
	struct sb_policy *policy = sb_policy_new();
	bool opens = !pick(16); /* rules of the user's, which open guarded names */

	sb_policy_set(policy, SB_SETTING_MODE,
		      pick(8) ? SB_MODE_WORKSPACE_WRITE : SB_MODE_READ_ONLY);
	sb_policy_set(policy, SB_SETTING_NETWORK, (int)pick(2));
	if (folds)
		sb_policy_fold(policy, "/Users/u/p", NULL);
	for (unsigned i = 2 + pick(9); i; i--) {
		const char *word = one_of(words, COUNT(words));
		struct sb_error err;
		char *pattern = i == 1 ? strdup("/Users/u/p") : make_pattern();
		struct sb_rule rule = {.pattern = pattern, .origin = "case", .hard = !pick(10)};

		sb_access_parse(word, strlen(word), &rule.access, &err);
		rule.tier = !pick(3)   ? SB_TIER_BUILTIN
			    : !pick(4) ? SB_TIER_SYSTEM
			    : opens    ? SB_TIER_FLAG
			    : pick(2)  ? SB_TIER_SESSION
				       : SB_TIER_PROFILE;
		if (i == 1 && !pick(2))
			rule.access = sb_access_write;
		if (rule.tier == SB_TIER_SYSTEM && !opens &&
		    rule.access.verdict[SB_CREATE] == SB_ALLOW)
			rule.tier = SB_TIER_BUILTIN;
		rule.login = pick(2);
		sb_policy_add(policy, &rule, &err); /* two that contradict each other: the first */
		free(pattern);
	}
	return policy;
}

/* --- what is expected -------------------------------------------------------------------------------- */

static bool is_name(const char *glob, size_t size, const char *name, size_t length)
{
	const char *star = memchr(glob, '*', size);
	struct sb_folded a, b;

	if (size == 8 && memcmp(glob, "<option>", 8) == 0)
		return sb_is_option_name(name, length);
	if (size == 5 && memcmp(glob, "<git>", 5) == 0)
		glob = ".git", size = 4;
	if (star)
		return (star == glob ||
			sb_fold_begins(name, length, glob, (size_t)(star - glob))) &&
		       sb_fold_ends(name, length, star + 1, size - (size_t)(star - glob) - 1);
	sb_fold(glob, size, &a);
	sb_fold(name, length, &b);
	return a.length == b.length && a.length != SB_FOLD_MAX &&
	       memcmp(a.text, b.text, a.length) == 0;
}

/* Do the last n names of path stand for the first n of the row? */
static bool ends_in(const char *path, const char *pattern, unsigned n)
{
	const char *at = path + strlen(path);

	for (unsigned left = n; left; left--) {
		if (at == path)
			return false;
		while (*--at != '/')
			;
	}
	for (; n; n--) {
		size_t length = strcspn(++at, "/"), size = strcspn(pattern, "/");

		if (!is_name(pattern, size, at, length))
			return false;
		at += length;
		pattern += size + 1;
	}
	return true;
}

/* The row, held, on whose way a directory of this name lies. */
static const struct sb_guard_row *row_beyond(const char *path)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = 0; i < count; i++) {
		unsigned n = 1;

		if (!sb_seatbelt_holds(&rows[i]) || !strchr("._<", rows[i].pattern[0]) ||
		    rows[i].flags &
			    (SB_GUARD_IN_HOME | SB_GUARD_IF_ELSEWHERE | SB_GUARD_IF_PROTECTING))
			continue;
		for (const char *at = rows[i].pattern; (at = strchr(at, '/')); at++, n++)
			if (ends_in(path, rows[i].pattern, n))
				return &rows[i];
	}
	return NULL;
}

/*
 * Is it a directory that has to be made for what is open?  A profile cannot tell a directory from a file,
 * which the judge would refuse there.
 */
static bool is_open_directory(const char *path)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = 0; i < count; i++) {
		const char *tree = strstr(rows[i].pattern, "/**");
		unsigned n = 1;

		for (const char *at = rows[i].pattern; (at = strchr(at, '/')) && at != tree; at++)
			n++;
		if (rows[i].kind == SB_GUARD_ANYTHING && tree && ends_in(path, rows[i].pattern, n))
			return true;
	}
	rows = sb_guard_git_rows(&count);
	for (size_t i = 0; i < count; i++) {
		unsigned n = 2;

		for (const char *at = strchr(rows[i].pattern, '/') + 1; (at = strchr(at, '/'));
		     at++, n++)
			if (!sb_seatbelt_holds(&rows[i]) &&
			    (ends_in(path, rows[i].pattern, n) ||
			     (strstr(path, "/.git/") &&
			      ends_in(path, strchr(rows[i].pattern, '/') + 1, n - 1))))
				return true;
	}
	return false;
}

static bool is_allowed(const struct sb_grounds *grounds, enum sb_op op, const char *path,
		       int directory)
{
	struct sb_case what = {.deed = SB_DEED_WRITE,
			       .site = {.directory = directory,
					.object = -1,
					.looked = true,
					.name = strrchr(path, '/') + 1,
					.path = path,
					.mode = op == SB_CREATE ? 0 : S_IFREG | 0644}};
	struct sb_decision decision = sb_decide(grounds->policy, op, path);
	const struct sb_guard_row *row;
	struct sb_judged judged;

	if (op == SB_READ)
		return sb_judge_read(grounds, path) == SB_ALLOW;
	for (int other = 0; op == SB_DELETE && other < SB_OP_COUNT; other++)
		if (sb_decide_beneath(grounds->policy, (enum sb_op)other, path).verdict != SB_ALLOW)
			return false;
	if (decision.verdict != SB_ALLOW)
		return false;
	sb_judge_op(grounds, op, &what, &judged);
	if (judged.guard.verdict != SB_GUARD_PLAIN && judged.guard.row &&
	    sb_seatbelt_holds(judged.guard.row))
		return false;
	row = op == SB_CREATE ? row_beyond(path) : NULL;
	if (row) {
		struct sb_judged way = {
			.op = op, .site = &what.site, .decision = decision, .guard = {.row = row}};

		return sb_rules_open(grounds->guard, grounds->policy, &way, true);
	}
	return true;
}

static void put_string(const char *text, size_t length)
{
	putchar('"');
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static const struct {
	const char *name;
	enum sb_op op;
} operations[] = {{"file-read-data", SB_READ},      {"process-exec", SB_READ},
		  {"file-write-data", SB_MODIFY},   {"file-write-mode", SB_MODIFY},
		  {"file-link", SB_MODIFY},         {"file-write-create", SB_CREATE},
		  {"network-bind", SB_CREATE},      {"file-write-unlink", SB_DELETE},
		  {"file-write-create", SB_CREATE}, {"file-write-data", SB_MODIFY}};

static int put_policy(unsigned cases, int directory, char **guard_before)
{
	static const char *const nothing[] = {NULL};
	bool folds = !pick(4);
	struct sb_policy *policy = make_policy(folds);
	struct sb_guard_home home = {0};
	struct sb_seatbelt profile;
	struct sb_grounds grounds;
	struct sb_guard *guard;
	struct sb_error err;
	char *mark;

	if (sb_policy_seal(policy, &err) != SB_OK ||
	    sb_grounds_guard(policy, nothing, &home, &guard, &err) != SB_OK ||
	    sb_seatbelt_make(&(struct sb_seatbelt_options){.policy = policy}, &profile, &err) !=
		    SB_OK) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	sb_grounds_init(&grounds, policy, guard);
	mark = strstr(profile.text.data, MARK);
	printf("(policy ");
	put_string(profile.text.data, (size_t)(mark - profile.text.data));
	if (*guard_before && strcmp(*guard_before, mark) == 0) {
		printf(" #f");
	} else {
		putchar(' ');
		put_string(mark, strlen(mark));
		free(*guard_before);
		*guard_before = strdup(mark);
	}
	printf(" (");
	for (size_t i = 0; i < profile.count; i++) {
		printf("(\"%s\" . ", profile.parameters[i].name);
		put_string(profile.parameters[i].value, strlen(profile.parameters[i].value));
		putchar(')');
	}
	printf(") (");
	while (cases--) {
		size_t i = pick(COUNT(operations));
		char path[1024];

		bool allowed, changed;

		do {
			make_path(path, sizeof path);
			if (folds && pick(2)) /* what a rule is about */
				snprintf(path, sizeof path, "%s%s",
					 sb_policy_pattern(policy,
							   pick((unsigned)sb_policy_count(policy)))
						 ->prefix,
					 pick(2) ? "" : "/a");
			changed = folds && change_case(path);
			allowed = is_allowed(&grounds, operations[i].op, path, directory);
			/* of another case a profile may refuse more: rules that allow mean what they say */
		} while (is_open_directory(path) || (changed && allowed));
		printf("(%s ", operations[i].name);
		put_string(path, strlen(path));
		printf(" %s)\n", allowed ? "#t" : "#f");
	}
	printf("))\n");
	sb_seatbelt_done(&profile);
	sb_guard_free(guard);
	sb_policy_free(policy);
	return 0;
}

/* Lines as in a config file, and settings. */
static int print_rules(void)
{
	static const char *const others[] = {"/tmp/of another", NULL};
	struct sb_policy *policy = sb_policy_new();
	struct sb_seatbelt_options options = {policy, "/dev/ttys001", others};
	struct sb_seatbelt profile;
	struct sb_error err;
	char line[1024];
	int status = SB_OK;

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_WORKSPACE_WRITE);
	while (status == SB_OK && fgets(line, sizeof line, stdin)) {
		struct sb_line parsed;

		status = sb_line_parse(line, strcspn(line, "\n"), &parsed, &err);
		if (status == SB_OK && parsed.kind == SB_LINE_SETTING)
			sb_policy_set(policy, parsed.setting, parsed.value);
		if (status == SB_OK && parsed.kind == SB_LINE_RULE)
			status = sb_policy_add(policy,
					       &(struct sb_rule){.access = parsed.access,
								 .tier = SB_TIER_FLAG,
								 .hard = parsed.tightens,
								 .pattern = parsed.text,
								 .origin = "file"},
					       &err);
		if (status == SB_OK)
			sb_line_done(&parsed);
	}
	if (status == SB_OK)
		status = sb_policy_seal(policy, &err);
	if (status == SB_OK)
		status = sb_seatbelt_make(&options, &profile, &err);
	sb_policy_free(policy);
	if (status != SB_OK) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	for (size_t i = 0; i < profile.count && profile.parameters[i].name[0]; i++) {
		char name[24];

		/* those of guarded names come last, and are not shown */
		snprintf(name, sizeof name, "\"%s\"", profile.parameters[i].name);
		if (strstr(profile.text.data, name) > strstr(profile.text.data, MARK))
			break;
		printf("; %s=", profile.parameters[i].name);
		put_string(profile.parameters[i].value, strlen(profile.parameters[i].value));
		putchar('\n');
	}
	printf("%.*s\n", (int)(strstr(profile.text.data, MARK) - profile.text.data),
	       profile.text.data);
	sb_seatbelt_done(&profile);
	return 0;
}

int main(int argc, char **argv)
{
	char top[] = "/tmp/profile-cases-XXXXXX", deep[64];
	char *guard_before = NULL;
	int directory, status = 0;

	if (argc == 2 && strcmp(argv[1], "rules") == 0)
		return print_rules();
	if (argc != 4 || !mkdtemp(top))
		return 2;
	/* where nothing is, and nothing above it that a guard would look for */
	snprintf(deep, sizeof deep, "%s/deep", top);
	mkdir(deep, 0700);
	directory = open(deep, O_PATH | O_DIRECTORY | O_CLOEXEC);
	state = strtoull(argv[1], NULL, 10);
	for (int i = atoi(argv[2]); i > 0 && !status; i--)
		status = put_policy((unsigned)atoi(argv[3]), directory, &guard_before);
	free(guard_before);
	rmdir(deep);
	rmdir(top);
	return status;
}
