/*
 * run.c - a run: what its command is told, confinement, execve, and what is said at its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/auto.h"
#include "base/escape.h"
#include "base/list.h"
#include "cli/agent_report.h"
#include "cli/learn.h"
#include "cli/report.h"
#include "cli/run.h"
#include "cli/shell.h"
#include "cli/trace.h"
#include "config/word.h"
#include "consent/summary.h"
#include "enforce/confine.h"
#include "enforce/inside.h"
#include "options/flags.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/network.h"
#include "policy/text.h"
#include "supervise/leftovers.h"
#include "supervise/supervise.h"

#define SUMMARY_LINES 20 /* of refusals at the end; --report has them all */

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
static int tell_environment(const struct sb_command_line *line, const struct sb_run *run)
{
	SB_AUTO_BUF struct sb_buf flags =
		SB_BUF(128 * 1024); /* the kernel takes no longer string: MAX_ARG_STRLEN */
	bool mounts, failed;

	if (!line->worker) /* which would tell where its file lies */
		encode_flags(line, &run->setup.profile, &flags);
	failed = setenv("SANDBASH_MODE", sb_mode_name(sb_policy_mode(run->setup.policy)), 1) != 0;
	if (sb_run_is_danger(run)) {
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
	if (sb_network_of(run->setup.policy) == SB_NETWORK_OFF)
		failed |= setenv("SANDBASH_NETWORK_DISABLED", "1", 1) != 0;
	else if (!sb_inside(&mounts))
		failed |= unsetenv("SANDBASH_NETWORK_DISABLED") != 0;
	return failed ? SB_EXIT_FAILURE : 0;
}

/*
 * TMPDIR names a directory that is there and writable, or is not set at all.  Where /tmp is everybody's, a
 * supervised run has one there for itself.
 */
static int point_tmpdir(const struct sb_run *run, const struct sb_layers *layers)
{
	const char *old = getenv("TMPDIR");
	const char *is =
		sb_plan_tmpdir(&run->plan, layers->mounts, old, run->setup.home.tmpdir != NULL);
	const char *base = is ? is : "/tmp";

	if (layers->supervised && !layers->mounts && sb_plan_is_temp_at(&run->plan, base)) {
		const char *own = sb_leftovers_make_temp(base);

		is = own ? own : is;
	}
	return is && is != old ? setenv("TMPDIR", is, 1) : 0;
}

static void print_weaknesses(const struct sb_weaknesses *weak, const char *prefix)
{
	for (size_t i = 0; i < weak->count; i++)
		fprintf(stderr, "%s%s\n", prefix, weak->text[i]);
}

/* Rules that a static run holds otherwise than they read. */
static void warn_about_static(const struct sb_run *run)
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

static void warn_about_alias(const struct sb_run *run)
{
	char where[4200];

	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO) &&
	    sb_shell_alias(run->setup.home.home, where, sizeof where))
		sb_warn("%s makes 'sandbash' an alias or function; 'command sandbash' avoids it",
			where);
}

/* A script without "#!" is the shell's, as execvp(3) has it (musl's has not). */
static int execute_script(const struct sb_run *run)
{
	size_t count = sb_list_count(run->argv);
	char **argv = calloc(count + 2, sizeof *argv);
	struct sb_error err;

	if (argv) {
		memcpy(argv + 1, run->argv, count * sizeof *argv);
		argv[0] = "sh";
		argv[1] = run->file;
		execv("/bin/sh", argv);
		free(argv);
	}
	sb_fail(&err, SB_E_SYSTEM, errno, "cannot run '%s'", run->argv[0]);
	sb_report(&err);
	return SB_EXIT_CANNOT_EXECUTE;
}

/* A program may lie in what a rule hides; then that is the reason. */
static void hint_hidden(const struct sb_run *run, struct sb_error *err)
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

static int execute(const struct sb_run *run)
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
						 const struct sb_run *run)
{
	return (struct sb_confine_options){
		.best_effort = line->best_effort,
		.keep_fds = line->keep_fds,
		.keep_fd_count = line->keep_fd_count,
		.policy = run->setup.policy,
		.note = run->note,
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
struct sb_environ_names sb_run_environ_names(const struct sb_run *run)
{
	return (struct sb_environ_names){
		sb_policy_clean_env(run->setup.policy), run->line->keep_env,
		!sb_run_is_danger(run) && !sb_policy_network(run->setup.policy)};
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

static int clean_environ(const struct sb_run *run)
{
	const struct sb_environ_names names = sb_run_environ_names(run);

	sb_environ_keep(&names);
	return sb_run_is_danger(run) ? 0 : set_variables(&run->setup.profile);
}

/* In the confined process: say what is weaker, and become the command. */
static int start(void *context, const struct sb_layers *layers, const struct sb_weaknesses *weak)
{
	const struct sb_run *run = context;

	print_weaknesses(weak, "sandbash: warning: on this machine ");
	if (point_tmpdir(run, layers) != 0 ||
	    (run->plan.gate && !layers->gate && setenv("SANDBASH_NETWORK_DISABLED", "1", 1) != 0) ||
	    clean_environ(run) != 0)
		return sb_end_with(SB_E_NOMEM, NULL, "out of memory");
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
static int open_record(const struct sb_command_line *line, const struct sb_run *run,
		       struct sb_audit **out)
{
	struct sb_error err;
	bool mounts;
	int status;

	/* inside another run it lies out of reach; that one has recorded its own start */
	if ((!run->setup.log_static && !line->require_audit && !sb_run_is_danger(run)) ||
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
static int start_recorded(const struct sb_command_line *line, struct sb_run *run,
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
	status = sb_record_start(audit,
				 (struct sb_event){.command = (const char *const *)run->argv,
						   .directory = run->setup.home.cwd,
						   .process = event.process,
						   .policy_hash = hash},
				 run->setup.policy, layers, &err);
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

static int run_static(const struct sb_command_line *line, struct sb_run *run)
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
static int run_unconfined(const struct sb_command_line *line, struct sb_run *run)
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

static void command_left(void *context, const struct sb_modes *modes)
{
	const struct sb_run *run = context;

	sb_complain_after(modes, run->piped);
}

/* The command may have made the pipe that it shares with us one that does not wait; nothing may be lost by that. */
static void put_whole(const char *text)
{
	int flags = fcntl(STDERR_FILENO, F_GETFL);
	bool waits = flags < 0 || !(flags & O_NONBLOCK);

	if (!waits)
		fcntl(STDERR_FILENO, F_SETFL, flags & ~O_NONBLOCK);
	sb_complain_begin();
	fputs(text, stderr);
	fflush(stderr);
	if (!waits)
		fcntl(STDERR_FILENO, F_SETFL, flags);
}

static void tell_reached(const struct sb_summary *summary, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf rules = SB_BUF(SB_OUTPUT_LIMIT);

	sb_summary_hosts(summary, false, &rules);
	sb_buf_printf(out, "sandbash: %s\n%s",
		      rules.length ? "hosts that were reached, as rules (sandbash --edit):"
				   : "no host was reached",
		      rules.length ? rules.data : "");
}

/* What was refused, for the person and for --report; a program's status stays its own. */
static int tell_refused(const struct sb_command_line *line, const struct sb_policy *policy,
			const struct sb_summary *summary, const struct sb_report_file *file)
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
		if (!line->learn && sb_network_of(policy) == SB_NETWORK_LEARN)
			tell_reached(summary, &text);
		if (text.length)
			put_whole(text.data);
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

static int supervise(const struct sb_command_line *line, struct sb_run *run,
		     struct sb_summary *summary, int *out_status)
{
	struct sb_confine_options options = confine_options(line, run);
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
		.title = run->title,
		.worker = run->worker,
		.directory = run->directory,
		.session_name = line->session,
		.session = sb_session_in_use(),
		.agreed = line->ask_first ? &run->agreed : NULL,
		.summary = summary,
		.require_audit = line->require_audit,
		.command = (const char *const *)run->argv,
		.has_trace = line->trace != NULL,
		.trace = line->trace_fd,
		.variable = sb_own_variable,
		.warn = sb_warn_of,
		.left = command_left,
		.failed = say_failed,
		.start = start,
		.context = run,
	};
	struct sb_error err;

	run->piped = !isatty(STDOUT_FILENO); /* the asker lets go of it */
	supervision.sockets = sb_named_sockets(sb_own_variable, &supervision.socket_count);
	if (sb_consent_on_terminal(line->consent) && has_terminal()) {
		if (!run->word)
			run->word = sb_word(&run->setup.home);
		supervision.word = run->word;
		supervision.colour = sb_has_colours();
	}
	return sb_supervise(&supervision, out_status, &err) == SB_OK ? 0 : sb_report(&err);
}

/* What the kernel hands to a program ("|", "@") is not the command's to make: core(5). */
static bool is_core_a_file(void)
{
	SB_AUTO_FD int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	char first;

	return fd >= 0 && read(fd, &first, 1) == 1 && !strchr("|@\n", first);
}

/* A person who has set a limit looks for the core, and finds none: enforce/linux_landlock.c says why. */
static void tell_core(const struct sb_command_line *line, int status)
{
	static const int signals[] = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
				      SIGFPE,  SIGSEGV, SIGSYS,  SIGXCPU, SIGXFSZ};
	struct rlimit limit;
	size_t i = 0;

	if (!WIFSIGNALED(status) || WCOREDUMP(status) || line->quiet || line->agent_report ||
	    getrlimit(RLIMIT_CORE, &limit) != 0 || !limit.rlim_cur || !is_core_a_file())
		return;
	while (i < sizeof signals / sizeof signals[0] && signals[i] != WTERMSIG(status))
		i++;
	if (i < sizeof signals / sizeof signals[0])
		put_whole("sandbash: no core file was left: the kernel makes it in the command's "
			  "name, which may only be in a /tmp of its own and in fast directories "
			  "(gdb's generate-core-file writes one anywhere)\n");
}

static int run_supervised(const struct sb_command_line *line, struct sb_run *run)
{
	/* not freed: the process ends, and most of its pages were never touched */
	static struct sb_summary *summary;
	struct sb_error err;
	int status = 0, failed = 0;

	summary = sb_summary_new(run->setup.home.home);
	if (!summary || (line->learn && sb_summary_keep_apart(summary, &err) != SB_OK))
		return sb_end_with(SB_E_NOMEM, NULL, "out of memory");
	if (line->worker)
		sb_summary_of_worker(summary);
	if (line->report && !run->report.directory &&
	    sb_report_find(line->report, run->setup.home.cwd, run->setup.home.home, &run->report,
			   &err) != SB_OK)
		failed = sb_report(&err);
	if (!failed)
		failed = supervise(line, run, summary, &status);
	if (!failed)
		failed = tell_refused(line, run->setup.policy, summary, &run->report);
	if (!failed)
		tell_core(line, status);
	if (!failed && line->learn)
		failed = sb_learn_tell(&run->learn, &run->setup, run->file, run->argv, summary);
	sb_report_done(&run->report);
	if (failed)
		return failed;
	if (WIFSIGNALED(status))
		die_by(WTERMSIG(status));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void say(const struct sb_profile *profile)
{
	for (size_t i = 0; i < profile->say_count; i++) {
		char safe[1024];

		fprintf(stderr, "sandbash: %s\n",
			sb_escape_line(safe, sizeof safe, profile->says[i]));
	}
}

/* It is used if it is for temporary files by its mode (config/place.c), or if a rule opens it. */
static void warn_about_tmpdir(const struct sb_setup *setup)
{
	const char *named = getenv("TMPDIR");
	SB_AUTO_FREE char *path = NULL;
	struct stat info;
	char safe[1024];

	if (!named || named[0] != '/' || setup->home.tmpdir ||
	    sb_policy_tmp(setup->policy) == SB_TMP_OFF || stat(named, &info) != 0 ||
	    !S_ISDIR(info.st_mode) || sb_path_canonical(named, &path, NULL, NULL) != SB_OK ||
	    sb_decide(setup->policy, SB_CREATE, path).verdict == SB_ALLOW)
		return;
	sb_warn("TMPDIR is not used: others may look into '%s' (chmod 700 makes it yours), or "
		"it holds more than temporary files; --allow-write opens it as it is",
		sb_escape_line(safe, sizeof safe, named));
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
	static struct sb_run run;
	const struct sb_command_line *line = &chosen;
	struct sb_error err;
	int status;

	chosen = *given;
	status = choose_kind(&chosen);
	if (!status)
		status = sb_trace_open(&chosen);
	run.line = line;
	if (line->has_ask_fd) /* whatever kind of run it is: never the command's */
		fcntl(line->ask_fd, F_SETFD, FD_CLOEXEC);

	if (!status && line->learn)
		status = sb_learn_begin(&chosen, &run.learn);
	if (!status)
		status = line->worker ? sb_run_prepare_worker(&chosen, &run)
				      : sb_run_prepare(line, true, &run);
	if (!status && sb_agent_report_check(&chosen, run.setup.policy, &err) != SB_OK)
		status = sb_report(&err);
	if (!status && line->ask_first && !sb_run_is_danger(&run))
		status = sb_cli_ask_first(line, &run, &run.agreed);
	if (!status && line->learn)
		status = sb_learn_ready(line, &run.setup, &run.learn);

	if (!status) {
		if (!line->command[0] && !line->worker)
			warn_about_alias(&run);
		if (!line->quiet && !line->worker && !sb_run_is_danger(&run))
			warn_about_tmpdir(&run.setup);
		status = tell_environment(line, &run);
		if (!status && !line->quiet && !sb_run_is_danger(&run) && !line->worker) {
			say(&run.setup.profile);
			sb_login_tell(&run.setup, run.argv[0]);
		}
	}
	if (!status && sb_run_is_danger(&run)) {
		status = run_unconfined(line, &run);
	} else if (!status) {
		status = sb_is_supervised(line) ? run_supervised(line, &run)
						: run_static(line, &run);
	}
	return status;
}
