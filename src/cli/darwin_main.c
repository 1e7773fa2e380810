/*
 * darwin_main.c - sandbash on macOS: a command under the rules of this machine, user and directory.
 *
 *     sandbash [--allow-write=PATH] [--allow-read=PATH] [--deny=PATH] [--rule=LINE] [--network=off]
 *              [--mode=read-only] [--consent=deny] [--best-effort] [--print-profile] [COMMAND...]
 *
 * What needs a supervisor (questions while the command runs, the log, sessions, agents' tools) is Linux's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/words.h"
#include "config/setup.h"
#include "config/variables.h"
#include "enforce/darwin_run.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/access.h"
#include "sys/directory.h"

#define MAX_RULES 256
#define MAX_OTHERS 1024
#define OUTPUT_LIMIT (8 * 1024 * 1024)

struct launch {
	struct sb_flag_rule rules[MAX_RULES];
	size_t rule_count;
	int settings[SB_SETTING_COUNT];
	bool print, asks, best_effort;
	const char *others[MAX_OTHERS + 1]; /* in temporary directories, before the run */
	size_t other_count;
	struct sb_setup setup, wider_setup;
	struct sb_seatbelt seatbelt, wider;
};

static const char *variable(const char *name)
{
	return getenv(name);
}

static int complain(const struct sb_error *err)
{
	fprintf(stderr, "sandbash: %s%s%s\n", err->message, err->sys_errno ? ": " : "",
		err->sys_errno ? strerror(err->sys_errno) : "");
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
	return 125;
}

/* What is in a temporary directory before the run, up to what a profile can take. */
static void add_others(struct launch *launch, const char *directory)
{
	const struct dirent64 *entry;
	struct sb_sys_dir dir;
	size_t first = launch->other_count;

	if (!directory || sb_sys_dir_open(&dir, directory) < 0)
		return;
	while ((entry = sb_sys_dir_next(&dir)) && launch->other_count < MAX_OTHERS) {
		char *path = NULL;

		if (!sb_is_dots(entry->d_name))
			path = sb_path_join(directory, entry->d_name);
		if (path)
			launch->others[launch->other_count++] = path;
	}
	sb_sys_dir_close(&dir);
	if (launch->other_count == MAX_OTHERS) { /* too many to name: none of it is the run's */
		launch->others[first] = directory;
		launch->others[first + 1] = NULL;
		launch->other_count = first + 1;
	}
}

/* The profile of the rules that are there now. */
static int make(struct launch *launch, struct sb_setup *setup, struct sb_seatbelt *out,
		struct sb_error *err)
{
	struct sb_setup_request request = {.environment = sb_environment_of(variable),
					   .rules = launch->rules,
					   .rule_count = launch->rule_count,
					   .looking = launch->print,
					   .guarded = true};
	struct sb_seatbelt_options options = {0};
	int status;

	memcpy(request.settings, launch->settings, sizeof request.settings);
	status = sb_setup_make(&request, setup, err);
	for (size_t i = 0; setup->warnings && setup->warnings[i]; i++)
		fprintf(stderr, "sandbash: %s\n", setup->warnings[i]);
	if (status != SB_OK)
		return status;
	if (sb_policy_clean_env(setup->policy))
		return sb_fail(err, SB_E_UNSUPPORTED, 0, "clean-env is not there on macOS");
	options.policy = setup->policy;
	options.terminal = ttyname(STDIN_FILENO);
	if (sb_policy_tmp(setup->policy) == SB_TMP_PRIVATE && !launch->other_count) {
		add_others(launch, "/private/tmp");
		add_others(launch, "/private/var/tmp");
		add_others(launch, setup->home.tmpdir);
	}
	options.others = launch->others;
	return sb_seatbelt_make(&options, out, err);
}

/* One question for each file; a yes is a rule for this file alone, for one more try. */
static const struct sb_seatbelt *ask(void *context, const struct sb_refused *refused, size_t count)
{
	struct launch *launch = context;
	size_t before = launch->rule_count;
	SB_AUTO_FILE FILE *terminal = fopen("/dev/tty", "r+e");
	struct sb_error err;
	char answer[16];

	for (size_t i = 0; terminal && i < count && launch->rule_count < MAX_RULES; i++) {
		SB_AUTO_BUF struct sb_buf text = SB_BUF(8192);

		sb_escape_append(&text, refused[i].program, strlen(refused[i].program));
		sb_buf_printf(&text, " was refused to %s ", sb_op_name(refused[i].op));
		sb_escape_name(&text, refused[i].path, strlen(refused[i].path));
		fprintf(terminal, "sandbash: %s\nAllow this file and run the command again? [y/N] ",
			text.data);
		fflush(terminal);
		if (!fgets(answer, sizeof answer, terminal))
			break;
		if (strcmp(answer, "y\n") == 0)
			launch->rules[launch->rule_count++] =
				(struct sb_flag_rule){.access = &sb_access_write,
						      .text = sb_pattern_escape(refused[i].path),
						      .origin = "an answer"};
	}
	if (launch->rule_count == before)
		return NULL;
	if (make(launch, &launch->wider_setup, &launch->wider, &err) == SB_OK)
		return &launch->wider;
	complain(&err);
	return NULL;
}

static void print(const struct sb_seatbelt *seatbelt)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(OUTPUT_LIMIT);

	for (size_t i = 0; i < seatbelt->count; i++) {
		SB_AUTO_BUF struct sb_buf word = SB_BUF(OUTPUT_LIMIT);

		sb_buf_printf(&word, "%s=%s", seatbelt->parameters[i].name,
			      seatbelt->parameters[i].value);
		sb_buf_puts(&out, "; -D ");
		sb_shell_quote(&out, word.data);
		sb_buf_putc(&out, '\n');
	}
	fputs(out.data, stdout);
	fputs(seatbelt->text.data, stdout);
}

/* False: it is none of ours. */
static bool take(struct launch *launch, const char *word)
{
	static const struct {
		const char *name;
		const struct sb_access *access;
	} rules[] = {{"--allow-write=", &sb_access_write},
		     {"--allow-read=", &sb_access_read},
		     {"--deny=", &sb_access_deny},
		     {"--rule=", NULL}};

	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		size_t length = strlen(rules[i].name);

		if (strncmp(word, rules[i].name, length) != 0 || launch->rule_count == MAX_RULES)
			continue;
		launch->rules[launch->rule_count++] =
			(struct sb_flag_rule){rules[i].access, word + length, word};
		return true;
	}
	if (strcmp(word, "--network=off") == 0)
		launch->settings[SB_SETTING_NETWORK] = SB_NETWORK_OFF + 1;
	else if (strcmp(word, "--mode=read-only") == 0)
		launch->settings[SB_SETTING_MODE] = SB_MODE_READ_ONLY + 1;
	else if (strcmp(word, "--consent=deny") == 0)
		launch->asks = false;
	else if (strcmp(word, "--best-effort") == 0)
		launch->best_effort = true;
	else if (strcmp(word, "--print-profile") == 0)
		launch->print = true;
	else
		return false;
	return true;
}

/*
 * SECURITY: a command that has a terminal can type into it.
 *
 * Danger: TIOCSTI puts characters where the shell outside will read them when the run is over.  A profile cannot tell
 * one ioctl from another, and without any no shell has job control.
 * Price: on a terminal nothing is run without --best-effort.
 * Held by: nothing; it needs a Mac (docs/macos.md).
 */
static int refuse_terminal(struct sb_error *err)
{
	sb_fail(err, SB_E_UNSUPPORTED, 0,
		"the command could type into this terminal, as if you did");
	return sb_hint(err, "--best-effort runs it all the same; or redirect standard input, "
			    "output and error: </dev/null 2>&1 | cat");
}

/* Words that begin with an option of none of ours are for the shell. */
static char **with_shell(int count, char **words)
{
	char **argv = calloc((size_t)count + 2, sizeof *argv);

	if (!argv)
		abort();
	argv[0] = "bash";
	memcpy(argv + 1, words, (size_t)count * sizeof *words);
	return argv;
}

int main(int argc, char **argv)
{
	static struct launch launch;
	bool terminal = isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) || isatty(STDERR_FILENO);
	struct sb_darwin_run run = {.context = &launch};
	struct sb_error err;
	int at = 1, status = 0;

	launch.asks = true;
	while (at < argc && take(&launch, argv[at]))
		at++;
	if (at < argc && strncmp(argv[at], "--", 2) == 0 && argv[at][2]) {
		fprintf(stderr, "sandbash: no option '%s' on macOS (docs/macos.md)\n", argv[at]);
		return 2;
	}
	at += at < argc && strcmp(argv[at], "--") == 0;
	if (make(&launch, &launch.setup, &launch.seatbelt, &err) != SB_OK)
		return complain(&err);
	if (launch.print) {
		print(&launch.seatbelt);
		return 0;
	}
	if (terminal && !launch.best_effort && refuse_terminal(&err) != SB_OK)
		return complain(&err);
	run.argv = at < argc && argv[at][0] != '-' ? argv + at : with_shell(argc - at, argv + at);
	setenv("SANDBASH", "1", 1);
	setenv("SANDBASH_MODE", sb_mode_name(sb_policy_mode(launch.setup.policy)), 1);
	if (!sb_policy_network(launch.setup.policy))
		setenv("SANDBASH_NETWORK_DISABLED", "1", 1);
	run.policy = launch.setup.policy;
	run.seatbelt = &launch.seatbelt;
	run.ask = launch.asks && !terminal ? ask : NULL;
	return sb_darwin_run(&run, &status, &err) == SB_OK ? status : complain(&err);
}
