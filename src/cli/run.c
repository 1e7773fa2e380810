/*
 * run.c - a run: rules, plan, confinement, execve.  And the same without the run.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/auto.h"
#include "base/escape.h"
#include "base/quote.h"
#include "cli/agent_report.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/flags.h"
#include "cli/learn.h"
#include "cli/shell.h"
#include "config/file.h"
#include "consent/summary.h"
#include "enforce/linux_seccomp.h"
#include "enforce/plan.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/text.h"
#include "enforce/confine.h"
#include "supervise/record.h"
#include "supervise/supervise.h"

#define SUMMARY_LINES 20 /* of refusals at the end; --report has them all */

struct run {
	const struct sb_command_line *line;
	struct sb_setup setup;
	struct sb_plan plan;
	char **argv;
	char *file;      /* what argv[0] was found to be; NULL: not found yet */
	char *canonical; /* the same without links, as rules know it; or NULL */
	struct sb_learn learn;
};

static bool is_danger(const struct run *run)
{
	return sb_policy_mode(run->setup.policy) == SB_MODE_DANGER_FULL_ACCESS;
}

/* A command cannot run in a directory that it may not see. */
static int check_visible(const struct run *run, struct sb_error *err)
{
	const char *cwd = run->setup.home.cwd;
	struct sb_decision decision = sb_decide(run->setup.policy, SB_READ, cwd);

	if (sb_plan_state_at(&run->plan, cwd) != SB_STATE_HIDDEN)
		return SB_OK;
	return sb_fail(err, SB_E_REFUSED, 0, "the current directory '%s' is hidden by a rule: %s",
		       cwd, decision.rule ? decision.rule->origin : "none");
}

/* Only a supervisor can tell what git ignores at the moment of a change. */
static int check_ignored(const struct run *run, struct sb_error *err)
{
	if (!sb_policy_protect_ignored(run->setup.policy) || is_danger(run) ||
	    sb_is_supervised(run->line))
		return SB_OK;
	if (run->line->best_effort) {
		sb_warn("what git ignores is not protected: that takes a supervised run");
		return SB_OK;
	}
	sb_fail(err, SB_E_UNSUPPORTED, 0,
		"cannot protect what git ignores: that takes a supervised run");
	return sb_hint(err, "leave out --static, or deny the files by name: --rule='read .env'; "
			    "--best-effort goes on without");
}

/* Everything up to the point of no return.  for_real: directories of ours may be made. */
/* Grants for what is not there yet that this run cannot hold as they read. */
static void warn_about_absent(const struct sb_plan *plan)
{
	for (size_t i = 0; i < plan->absent_count; i++) {
		const char *path = plan->absent[i];

		if (sb_plan_state_at(plan, path) == SB_STATE_HIDDEN)
			sb_warn("'%s' is not there, and what is made in a hidden directory cannot "
				"be seen: make it first",
				path);
		else if (sb_plan_is_temp_at(plan, path))
			sb_warn("'%s' is not there: what the command makes there is gone with its "
				"own temp directory",
				path);
	}
}

/* Words of the profile, right behind the program's name; not those that were given already. */
static int add_arguments(const struct sb_profile *profile, char ***argv, struct sb_error *err)
{
	size_t given = 0, count = 1;
	char **grown;

	if (!profile->fits || !profile->argument_count)
		return SB_OK;
	while ((*argv)[given])
		given++;
	grown = calloc(given + profile->argument_count + 1, sizeof *grown);
	if (!grown)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	grown[0] = (*argv)[0];
	for (size_t i = 0; i < profile->argument_count; i++) {
		bool there = false;

		for (size_t j = 1; j < given; j++)
			there |= strcmp((*argv)[j], profile->arguments[i]) == 0;
		if (!there)
			grown[count++] = profile->arguments[i];
	}
	memcpy(grown + count, *argv + 1, given * sizeof *grown);
	free(*argv);
	*argv = grown;
	return SB_OK;
}

static int prepare(const struct sb_command_line *line, bool for_real, struct run *run)
{
	struct sb_error err;
	SB_AUTO_FREE char *absolute = NULL;
	struct sb_plan_request request;
	int status;

	/* A command of its own may have a profile; the shell is chosen by what is read now. */
	if (line->command[0] && !line->for_shell)
		run->file = sb_shell_find(line->command[0]);
	/* Without a sandbox it does not matter where we stand. */
	status = sb_set_up_for(line, run->file,
			       line->has_mode && line->mode == SB_MODE_DANGER_FULL_ACCESS,
			       &run->setup);
	if (status)
		return status;
	/* ... but the system's rules may not let us go without one. */
	if (line->has_mode && line->mode == SB_MODE_DANGER_FULL_ACCESS && !is_danger(run)) {
		sb_setup_done(&run->setup);
		status = sb_set_up_for(line, run->file, false, &run->setup);
		if (status)
			return status;
	}
	status = sb_shell_command(line, &run->setup, &run->argv, &err);
	if (status == SB_OK && !is_danger(run))
		status = add_arguments(&run->setup.profile, &run->argv, &err);
	if (status == SB_OK)
		status = check_ignored(run, &err);
	if (status == SB_OK && for_real && !is_danger(run))
		status = sb_setup_protect(&run->setup, &err);
	if (status == SB_OK && !is_danger(run)) {
		if (!run->file)
			run->file = sb_shell_find(run->argv[0]);
		if (run->file && sb_path_expand(run->file, run->setup.home.cwd,
						run->setup.home.home, &absolute, NULL) == SB_OK)
			sb_path_canonical(absolute, &run->canonical, NULL, NULL);
		request = (struct sb_plan_request){
			.cwd = run->setup.home.cwd,
			.tmpdir = run->setup.home.tmpdir,
			.command = run->canonical,
			.projects = (const char *const *)run->setup.projects,
			.supervised = sb_is_supervised(line),
			.other_terminal = run->setup.home.other_terminal,
			.tells_hidden = line->learn,
		};
		status = sb_plan_make(run->setup.policy, &request, &run->plan, &err);
		if (status == SB_OK)
			status = check_visible(run, &err);
		if (status == SB_OK)
			warn_about_absent(&run->plan);
	}
	return status == SB_OK ? 0 : sb_report(&err);
}

/* The options of this run, for a --status inside; a profile that was found by name as if it were given. */
static void encode_flags(const struct sb_command_line *line, const struct sb_profile *profile,
			 struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf word = SB_BUF(256);

	if (profile->name && profile->by_name) {
		char *words[] = {word.data};

		sb_buf_printf(&word, "--profile=%s", profile->name);
		words[0] = word.data;
		sb_flags_encode(words, 1, out);
		if (line->own_count)
			sb_buf_putc(out, ' ');
	}
	sb_flags_encode(line->own, line->own_count, out);
}

/* P7: what the command runs under, in its environment. */
static int tell_environment(const struct sb_command_line *line, const struct run *run)
{
	SB_AUTO_BUF struct sb_buf flags =
		SB_BUF(128 * 1024); /* the kernel takes no longer string: MAX_ARG_STRLEN */
	bool mounts, failed;

	encode_flags(line, &run->setup.profile, &flags);
	failed = setenv("SANDBASH_MODE", sb_mode_name(sb_policy_mode(run->setup.policy)), 1) != 0;
	if (is_danger(run)) {
		if (!sb_inside(&mounts)) {
			unsetenv("SANDBASH");
			unsetenv("SANDBASH_NETWORK_DISABLED");
		}
		return failed ? SB_EXIT_FAILURE : 0;
	}
	failed |= setenv("SANDBASH", "1", 1) != 0;
	failed |= setenv("SANDBASH_PROJECT", run->setup.home.cwd, 1) != 0;
	failed |= sb_buf_failed(&flags) ? unsetenv("SANDBASH_FLAGS") != 0
					: setenv("SANDBASH_FLAGS", flags.data, 1) != 0;
	/* An outer run's closed network stays closed, so its word stays too. */
	if (!sb_policy_network(run->setup.policy))
		failed |= setenv("SANDBASH_NETWORK_DISABLED", "1", 1) != 0;
	else if (!sb_inside(&mounts))
		failed |= unsetenv("SANDBASH_NETWORK_DISABLED") != 0;
	return failed ? SB_EXIT_FAILURE : 0;
}

/* TMPDIR names a directory that is there and writable, or is not set at all. */
static int point_tmpdir(const struct run *run, const struct sb_layers *layers)
{
	const char *old = getenv("TMPDIR");
	const char *is =
		sb_plan_tmpdir(&run->plan, layers->mounts, old, run->setup.home.tmpdir != NULL);

	return is && is != old ? setenv("TMPDIR", is, 1) : 0;
}

static void print_weaknesses(const struct sb_weaknesses *weak, const char *prefix)
{
	for (size_t i = 0; i < weak->count; i++)
		fprintf(stderr, "%s%s\n", prefix, weak->text[i]);
}

/* Rules that a static run holds otherwise than they read. */
static void warn_about_static(const struct run *run)
{
	for (size_t i = 0; i < run->plan.node_count; i++)
		if (run->plan.nodes[i].simplified)
			sb_warn("inside a writable directory a static run can hold '%s' only as "
				"read-only",
				run->plan.nodes[i].path);
	for (size_t i = 0; i < sb_policy_count(run->setup.policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(run->setup.policy, i);

		if (rule->tier != SB_TIER_BUILTIN && !rule->access.quiet &&
		    sb_pattern_is_glob(rule->pattern) &&
		    !sb_access_equal(&rule->access, &sb_access_write))
			sb_warn("a static run holds '%s' (%s) for the files that exist now",
				rule->pattern, rule->origin);
	}
}

static void warn_about_alias(const struct run *run)
{
	char where[4200];

	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO) &&
	    sb_shell_alias(run->setup.home.home, where, sizeof where))
		sb_warn("%s makes 'sandbash' an alias or function; 'command sandbash' avoids it",
			where);
}

/* A script without "#!" is the shell's, as execvp(3) has it (musl's has not). */
static int execute_script(const struct run *run)
{
	size_t count = 0;
	char **argv;
	struct sb_error err;

	while (run->argv[count])
		count++;
	argv = calloc(count + 2, sizeof *argv);
	if (argv) {
		argv[0] = "sh";
		argv[1] = run->file;
		for (size_t i = 1; i < count; i++)
			argv[i + 1] = run->argv[i];
		execv("/bin/sh", argv);
		free(argv);
	}
	sb_fail(&err, SB_E_SYSTEM, errno, "cannot run '%s'", run->argv[0]);
	sb_report(&err);
	return SB_EXIT_CANNOT_EXECUTE;
}

/* A program may lie in what a rule hides; then that is the reason. */
static void hint_hidden(const struct run *run, struct sb_error *err)
{
	SB_AUTO_FREE char *pattern = run->canonical ? sb_pattern_escape(run->canonical) : NULL;
	SB_AUTO_BUF struct sb_buf option = SB_BUF(sizeof err->hint);
	SB_AUTO_BUF struct sb_buf word = SB_BUF(sizeof err->hint);

	if (!pattern || sb_decide(run->setup.policy, SB_READ, run->canonical).verdict == SB_ALLOW)
		return;
	sb_buf_printf(&option, "--allow-read=%s", pattern);
	if (!sb_buf_failed(&option))
		sb_shell_quote(&word, option.data);
	if (!sb_buf_failed(&option) && !sb_buf_failed(&word))
		sb_hint(err, "a rule hides it; sandbash %s ... shows it", word.data);
}

static int execute(const struct run *run)
{
	char *const *argv = run->argv;
	struct sb_error err;
	int error;

	if (run->file)
		execv(run->file, argv);
	if (run->file && errno == ENOEXEC)
		return execute_script(run);
	execvp(argv[0], argv); /* not found outside, or not visible inside */
	error = errno;
	sb_fail(&err, SB_E_SYSTEM, error, "cannot run '%s'", argv[0]);
	if (error == EACCES)
		hint_hidden(run, &err);
	sb_report(&err);
	return error == ENOENT ? SB_EXIT_NOT_FOUND : SB_EXIT_CANNOT_EXECUTE;
}

static struct sb_confine_options confine_options(const struct sb_command_line *line,
						 const struct run *run)
{
	return (struct sb_confine_options){
		.best_effort = line->best_effort,
		.keep_fds = line->keep_fds,
		.keep_fd_count = line->keep_fd_count,
		.policy = run->setup.policy,
	};
}

/* The run cannot be: why, what is not held, and what to do. */
static int say_failed(void *context, const struct sb_error *err, const struct sb_weaknesses *weak)
{
	struct sb_error first = *err;

	(void)context;
	/* the reasons stand between the message and the hint */
	first.hint[0] = '\0';
	sb_report(&first);
	if (err->code == SB_E_UNSUPPORTED)
		print_weaknesses(weak, "  - ");
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
	return SB_EXIT_FAILURE;
}

/* What the command sees of the environment. */
static struct sb_environ_names environ_names(const struct run *run)
{
	return (struct sb_environ_names){sb_policy_clean_env(run->setup.policy),
					 run->line->keep_env};
}

/* What the profile sets counts where the user has set nothing; not without a sandbox, which is what it is for. */
static int set_variables(const struct sb_profile *profile)
{
	for (size_t i = 0; i < profile->environment_count; i++) {
		const char *text = profile->environment[i];
		SB_AUTO_FREE char *name = strndup(text, strcspn(text, "="));

		if (!name || setenv(name, text + strlen(name) + 1, 0) != 0)
			return -1;
	}
	return 0;
}

static int clean_environ(const struct run *run)
{
	const struct sb_environ_names names = environ_names(run);

	sb_environ_keep(&names);
	return is_danger(run) ? 0 : set_variables(&run->setup.profile);
}

/* In the confined process: say what is weaker, and become the command. */
static int start(void *context, const struct sb_layers *layers, const struct sb_weaknesses *weak)
{
	const struct run *run = context;
	struct sb_error err;

	print_weaknesses(weak, "sandbash: warning: on this machine ");
	if (point_tmpdir(run, layers) != 0 || clean_environ(run) != 0) {
		sb_fail(&err, SB_E_NOMEM, 0, "out of memory");
		return sb_report(&err);
	}
	return execute(run);
}

static void warn_of(const struct sb_error *err)
{
	sb_warn("%s%s%s", err->message, err->sys_errno ? ": " : "",
		err->sys_errno ? strerror(err->sys_errno) : "");
}

/* How long files may be is the caller's business, and the day's is long. */
static bool has_size_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

/*
 * A record for a run without a supervisor: opened while we can, closed when the command takes our
 * place.  In the file of the day, unless it must not fail: that may be another's fault.
 */
static int open_record(const struct sb_command_line *line, const struct run *run,
		       struct sb_audit **out)
{
	struct sb_error err;
	bool mounts;
	int status;

	/* inside another run it lies out of reach; that one has recorded its own start */
	if ((!run->setup.log_static && !line->require_audit && !is_danger(run)) ||
	    sb_inside(&mounts))
		return 0;
	status =
		line->require_audit || has_size_limit()
			? sb_audit_open(run->setup.home.state_dir, line->session, out, &err)
			: sb_audit_open_shared(run->setup.home.state_dir, line->session, out, &err);
	/* now, since a file that stays empty can be taken away again as long as we are free */
	if (status == SB_OK && line->require_audit)
		status = sb_audit_reserve(*out, &err);
	if (status == SB_OK)
		return 0;
	sb_audit_close(*out);
	*out = NULL;
	if (line->require_audit)
		return sb_report(&err);
	warn_of(&err);
	return 0;
}

/*
 * Its end would be ours to record, and we are the command then: only a failure to start is.
 * layers NULL: there is no sandbox.
 */
static int start_recorded(const struct sb_command_line *line, struct run *run,
			  struct sb_audit *audit, const struct sb_layers *layers,
			  const struct sb_weaknesses *weak)
{
	struct sb_event event = {.kind = SB_EVENT_EXIT, .has_status = true, .process = getpid()};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, own;
	char hash[SB_SHA256_HEX];
	struct sb_error err;
	int status;

	sb_record_hash(run->setup.policy, hash);
	sigaction(SIGXFSZ, &ignore, &own); /* a record that is too long for the limit is an error */
	status = sb_record_start(audit, run->setup.policy, hash, (const char *const *)run->argv,
				 run->setup.home.cwd, event.process, layers, &err);
	sigaction(SIGXFSZ, &own, NULL);
	if (status != SB_OK) {
		if (line->require_audit)
			return sb_report(&err);
		warn_of(&err);
	}
	event.status = layers ? start(run, layers, weak) : execute(run);
	sb_audit_write(audit, &event, &err);
	return event.status;
}

static int run_static(const struct sb_command_line *line, struct run *run)
{
	struct sb_confine_options options = confine_options(line, run);
	static struct sb_weaknesses weak; /* large; nothing else runs here */
	struct sb_audit *audit = NULL;
	struct sb_layers layers;
	struct sb_error err;
	int status = open_record(line, run, &audit);

	if (status)
		return status;
	warn_about_static(run);
	if (sb_confine(&run->plan, &options, &layers, &weak, &err) != SB_OK)
		status = say_failed(run, &err, &weak);
	else
		status = audit ? start_recorded(line, run, audit, &layers, &weak)
			       : start(run, &layers, &weak);
	sb_audit_close(audit);
	return status;
}

/* danger-full-access: nothing holds, but that it was so is on record (R1). */
static int run_unconfined(const struct sb_command_line *line, struct run *run)
{
	struct sb_audit *audit = NULL;
	int status = open_record(line, run, &audit);

	if (status)
		return status;
	clean_environ(run);
	status = audit ? start_recorded(line, run, audit, NULL, NULL) : execute(run);
	sb_audit_close(audit);
	return status;
}

/* End as the command did, so that whoever waits for us sees what they would see without us. */
static void die_by(int signal)
{
	sigset_t only;

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the core file is the command's to leave */
	sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	sigemptyset(&only);
	sigaddset(&only, signal);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	raise(signal);
}

static void warn_person(void *context, const char *text)
{
	(void)context;
	sb_warn("%s", text);
}

/* What was refused, for the person and for --report; a program's status stays its own. */
static int tell_refused(const struct sb_command_line *line, const struct sb_summary *summary,
			const struct sb_report_file *file)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_OUTPUT_LIMIT);
	SB_AUTO_BUF struct sb_buf report = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_json json;
	struct sb_error err;

	if (!line->quiet && !line->agent_report) {
		sb_summary_text(summary, SUMMARY_LINES, &text);
		if (line->consent != SB_CONSENT_DENY && sb_summary_nobody(summary))
			sb_buf_puts(&text, "to be asked instead: sandbash --watch in another "
					   "terminal\n");
		if (text.length)
			fputs(text.data, stderr);
	}
	if (line->agent_report && sb_agent_report_write(line, summary, &err) != SB_OK)
		return sb_report(&err);
	if (!file->directory)
		return 0;
	sb_json_init(&json, &report);
	sb_summary_json(summary, SB_SUMMARY_MAX, &json);
	sb_buf_putc(&report, '\n');
	return sb_report_write(file, report.data, report.length, &err) == SB_OK ? 0
										: sb_report(&err);
}

/* Without one nobody is shown the word, and a run leaves no file that nobody needs. */
static bool has_terminal(void)
{
	SB_AUTO_FD int tty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	return tty >= 0;
}

static int supervise(const struct sb_command_line *line, struct run *run,
		     struct sb_summary *summary, int *out_status)
{
	struct sb_confine_options options = confine_options(line, run);
	SB_AUTO_FREE char *word = NULL;
	struct sb_supervision supervision = {
		.size = sizeof supervision,
		.policy = run->setup.policy,
		.plan = &run->plan,
		.confine = &options,
		.keep_background = line->keep_background,
		.consent = line->consent,
		.ask_timeout_ms = line->ask_timeout_ms,
		.has_client = line->has_ask_fd,
		.client = line->ask_fd,
		.home = &run->setup.home,
		.projects = (const char *const *)run->setup.projects,
		.session_name = line->session,
		.session = sb_session_in_use(),
		.summary = summary,
		.require_audit = line->require_audit,
		.command = (const char *const *)run->argv,
		.warn = warn_person,
		.failed = say_failed,
		.start = start,
		.context = run,
	};
	struct sb_error err;

	supervision.sockets = sb_named_sockets(sb_cli_variable, &supervision.socket_count);
	if (sb_consent_on_terminal(line->consent) && has_terminal()) {
		word = sb_word(&run->setup.home);
		supervision.word = word;
		supervision.colour = sb_has_colours();
	}
	return sb_supervise(&supervision, out_status, &err) == SB_OK ? 0 : sb_report(&err);
}

static int run_supervised(const struct sb_command_line *line, struct run *run)
{
	/* not freed: the process ends, and most of its pages were never touched */
	static struct sb_summary *summary;
	struct sb_report_file file = {0};
	struct sb_error err;
	int status = 0, failed = 0;

	summary = sb_summary_new(run->setup.home.home);
	if (!summary || (line->learn && sb_summary_keep_apart(summary, &err) != SB_OK)) {
		sb_fail(&err, SB_E_NOMEM, 0, "out of memory");
		return sb_report(&err);
	}
	if (line->report && sb_report_find(line->report, run->setup.home.cwd, run->setup.home.home,
					   &file, &err) != SB_OK)
		failed = sb_report(&err);
	if (!failed)
		failed = supervise(line, run, summary, &status);
	if (!failed)
		failed = tell_refused(line, summary, &file);
	if (!failed && line->learn)
		failed = sb_learn_tell(&run->learn, &run->setup, run->file, run->argv, summary);
	sb_report_done(&file);
	if (failed)
		return failed;
	if (WIFSIGNALED(status))
		die_by(WTERMSIG(status));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void run_done(struct run *run)
{
	sb_plan_done(&run->plan);
	sb_setup_done(&run->setup);
	free(run->argv);
	free(run->file);
	free(run->canonical);
}

static void say(const struct sb_profile *profile)
{
	for (size_t i = 0; i < profile->say_count; i++) {
		char safe[1024];

		fprintf(stderr, "sandbash: %s\n",
			sb_escape_line(safe, sizeof safe, profile->says[i]));
	}
}

/* A supervised run, unless it was told to be static or lies inside another. */
static int choose_kind(struct sb_command_line *line)
{
	struct sb_error err;

	if (!sb_is_supervised(line) ||
	    (line->has_mode && line->mode == SB_MODE_DANGER_FULL_ACCESS) ||
	    sb_supervise_possible(&err) == SB_OK)
		return 0;
	if (!line->best_effort)
		return sb_report(&err);
	sb_warn("%s; nobody will be asked", err.message);
	line->static_run = true;
	return 0;
}

int sb_cli_run(const struct sb_command_line *given)
{
	/* not freed: the process ends, and its pages are shared until then */
	static struct sb_command_line chosen;
	static struct run run;
	const struct sb_command_line *line = &chosen;
	struct sb_error err;
	int status;

	chosen = *given;
	status = choose_kind(&chosen);
	run.line = line;
	if (line->has_ask_fd) /* whatever kind of run it is: never the command's */
		fcntl(line->ask_fd, F_SETFD, FD_CLOEXEC);

	if (!status && line->learn)
		status = sb_learn_begin(&chosen, &run.learn);
	if (!status)
		status = prepare(line, true, &run);
	if (!status && sb_agent_report_check(line, run.setup.policy, &err) != SB_OK)
		status = sb_report(&err);
	if (!status && line->learn)
		status = sb_learn_ready(line, &run.setup, &run.learn);

	if (!status) {
		if (!line->command[0])
			warn_about_alias(&run);
		status = tell_environment(line, &run);
		if (!status && !line->quiet && !is_danger(&run)) {
			say(&run.setup.profile);
			sb_login_tell(&run.setup, run.argv[0]);
		}
	}
	if (!status && is_danger(&run)) {
		status = run_unconfined(line, &run);
	} else if (!status) {
		status = sb_is_supervised(line) ? run_supervised(line, &run)
						: run_static(line, &run);
	}
	return status;
}

/* What the profile sets for the command, where nothing is set. */
static void put_set(const struct run *run, struct sb_buf *out)
{
	const struct sb_profile *profile = &run->setup.profile;

	for (size_t i = 0; i < profile->environment_count && !is_danger(run); i++) {
		sb_buf_puts(out, "would set:  ");
		sb_shell_quote(out, profile->environment[i]);
		sb_buf_putc(out, '\n');
	}
}

/* Names of variables that the command does not get. */
static void put_environ(const struct run *run, struct sb_buf *out)
{
	const struct sb_environ_names names = environ_names(run);
	size_t count = 0;

	for (size_t i = 0; environ[i]; i++) {
		if (!sb_environ_removes(&names, environ[i]))
			continue;
		sb_buf_puts(out, count++ ? ", " : "not passed: ");
		sb_escape_append(out, environ[i], strcspn(environ[i], "="));
	}
	if (count)
		sb_buf_putc(out, '\n');
}

static void json_environ(const struct run *run, struct sb_json *json)
{
	const struct sb_environ_names names = environ_names(run);

	sb_json_key(json, "variables_removed");
	sb_json_open(json, '[');
	for (size_t i = 0; environ[i]; i++) {
		SB_AUTO_FREE char *name = strndup(environ[i], strcspn(environ[i], "="));

		if (name && sb_environ_removes(&names, environ[i]))
			sb_json_string(json, name);
	}
	sb_json_close(json, ']');
}

static void dry_run_text(const struct run *run, const struct sb_layers *layers,
			 const struct sb_weaknesses *weak, struct sb_buf *out)
{
	char held[200];

	sb_buf_puts(out, "would run:  ");
	for (size_t i = 0; run->argv[i]; i++) {
		if (i)
			sb_buf_putc(out, ' ');
		sb_shell_quote(out, run->argv[i]);
	}
	sb_buf_puts(out, "\nin:         ");
	sb_escape_name(out, run->setup.home.cwd, strlen(run->setup.home.cwd));
	sb_buf_printf(out, "\nmode:       %s\n", sb_mode_name(sb_policy_mode(run->setup.policy)));
	if (run->setup.profile.name)
		sb_buf_printf(out, "profile:    %s\n", run->setup.profile.name);
	sb_tools_print(&run->setup.profile, "tools:      ", out);
	put_set(run, out);
	put_environ(run, out);
	if (is_danger(run)) {
		sb_buf_puts(out, "layers:     none: the command runs without a sandbox\n");
		return;
	}
	sb_layers_describe(layers, held, sizeof held);
	sb_buf_printf(out, "network:    %s\nlayers:     %s\n",
		      sb_policy_network(run->setup.policy) ? "on" : "off", held);
	if (sb_is_guarded(run->line, &run->setup))
		sb_buf_puts(out,
			    "guarded:    names that programs outside would run or obey, at any "
			    "depth (--explain PATH)\n");
	else if (!sb_is_supervised(run->line))
		sb_buf_puts(out,
			    "guarded:    only what stands read-only below; not git's other state "
			    "files, new names, contents\n");
	sb_buf_puts(out, "everything is read-only, except:\n");
	for (size_t i = 0; i < run->plan.node_count; i++) {
		const struct sb_plan_node *node = &run->plan.nodes[i];
		const struct sb_plan_node *parent = &run->plan.nodes[node->parent];
		const char *what = node->fast                         ? "fast"
				   : node->temp                       ? "private"
				   : node->state == SB_STATE_WRITABLE ? "writable"
				   : node->state == SB_STATE_HIDDEN   ? "hidden"
								      : "read-only";

		if (i && node->allow == parent->allow && node->fast == parent->fast)
			continue;
		if (i == 0 && node->state == SB_STATE_READABLE)
			continue;
		sb_buf_printf(out, "  %-10s ", what);
		sb_escape_name(out, node->path, strlen(node->path));
		if (node->rule) {
			sb_buf_puts(out, "  # ");
			sb_escape_append(out, node->rule->origin, strlen(node->rule->origin));
		}
		sb_buf_putc(out, '\n');
	}
	for (size_t i = 0; i < run->plan.absent_count; i++) {
		if (sb_plan_state_at(&run->plan, run->plan.absent[i]) != SB_STATE_READABLE)
			continue; /* it is in something writable, or cannot be made: warned about */
		sb_buf_puts(out, "  may make   ");
		sb_escape_name(out, run->plan.absent[i], strlen(run->plan.absent[i]));
		sb_buf_putc(out, '\n');
	}
	if (weak->count)
		sb_buf_puts(out, "not held on this machine:\n");
	for (size_t i = 0; i < weak->count; i++)
		sb_buf_printf(out, "  - %s\n", weak->text[i]);
}

static void dry_run_json(const struct run *run, const struct sb_layers *layers,
			 const struct sb_weaknesses *weak, struct sb_buf *out)
{
	struct sb_json json;

	sb_json_init(&json, out);
	sb_json_open(&json, '{');
	sb_json_key(&json, "command");
	sb_json_open(&json, '[');
	for (size_t i = 0; run->argv[i]; i++)
		sb_json_string(&json, run->argv[i]);
	sb_json_close(&json, ']');
	sb_json_pair(&json, "directory", run->setup.home.cwd);
	sb_json_pair(&json, "profile", run->setup.profile.name);
	sb_json_pair(&json, "mode", sb_mode_name(sb_policy_mode(run->setup.policy)));
	sb_json_pair_bool(&json, "network", sb_policy_network(run->setup.policy));
	sb_json_pair_bool(&json, "guarded", sb_is_guarded(run->line, &run->setup));
	json_environ(run, &json);
	sb_json_key(&json, "layers");
	sb_json_layers(&json, layers);
	sb_json_key(&json, "mounts");
	sb_json_open(&json, '[');
	for (size_t i = 0; i < run->plan.mount_count; i++) {
		sb_json_open(&json, '{');
		sb_json_pair(&json, "path", run->plan.mounts[i].path);
		sb_json_pair(&json, "as", sb_mount_kind_name(run->plan.mounts[i].kind));
		sb_json_close(&json, '}');
	}
	sb_json_close(&json, ']');
	sb_json_key(&json, "not_there_yet");
	sb_json_open(&json, '[');
	for (size_t i = 0; i < run->plan.absent_count; i++)
		sb_json_string(&json, run->plan.absent[i]);
	sb_json_close(&json, ']');
	sb_json_key(&json, "not_held");
	sb_json_weaknesses(&json, weak);
	sb_json_close(&json, '}');
}

int sb_cli_dry_run(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	static struct sb_weaknesses weak;
	struct sb_layers layers = {0};
	struct run run = {.line = line};
	struct sb_error err;
	int status = prepare(line, false, &run);

	if (!status && !is_danger(&run)) {
		if (sb_layers_probe(!sb_policy_network(run.setup.policy), &layers, &err) != SB_OK)
			status = sb_report(&err);
		layers.supervised = sb_is_supervised(line) && !layers.outer;
		layers.pid_namespace = layers.supervised && layers.mounts;
		if (!status && !layers.outer)
			sb_weaknesses_find(&layers, &run.plan, &weak);
	}
	if (!status) {
		if (line->json)
			dry_run_json(&run, &layers, &weak, &out);
		else
			dry_run_text(&run, &layers, &weak, &out);
		status = sb_print(&out);
	}
	run_done(&run);
	return status;
}
