/*
 * git.c - --git: files between repositories and the directories that a project offers to workers.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/auto.h"
#include "base/hash.h"
#include "base/list.h"
#include "cli/cli.h"
#include "consent/question.h"
#include "files/seen.h"
#include "path/path.h"
#include "repo/repo.h"
#include "zones/rules.h"

typedef int (*act_function)(const struct sb_repo_session *, const struct sb_repo_request *,
			    struct sb_repo_result *, struct sb_error *);

/* What an act takes, and what of it it needs. */
static const struct act {
	const char *name, *words; /* of the record */
	act_function run;
	enum sb_op op;
	unsigned needs, takes;
} acts[] = {
#define REPO 1U
#define ZONE 2U
#define PATHS 4U
#define MESSAGE 8U
#define ID 16U
#define BRANCH 32U
#define HOW 64U
	{"pull", "git pull", sb_repo_pull, SB_CREATE, REPO | ZONE, PATHS | BRANCH},
	{"stage", "git stage", sb_repo_stage, SB_READ, REPO | ZONE | MESSAGE, PATHS | BRANCH},
	{"show", "git show", sb_repo_show, SB_READ, ID, REPO},
	{"push", "git push", sb_repo_push, SB_MODIFY, ID, REPO | BRANCH | HOW},
	{"discard", "git discard", sb_repo_discard, SB_DELETE, ID, REPO},
};

struct said_yes {
	struct said_yes *next;
	char what[SB_SHA256_HEX];
};

struct doing {
	const struct sb_command_line *line;
	const struct act *act;
	struct sb_setup setup;
	struct sb_project project;
	struct sb_worker worker; /* of --worker */
	struct sb_zones has;
	struct sb_repo_request request;
	const char **paths;
	bool json;
	struct sb_audit *audit;
	unsigned long questions;
	struct said_yes *yes; /* of file names: they are asked about before, and when it is done */
	bool nobody;          /* could be asked, the last time */
};

/* --- the command line --------------------------------------------------------------------------------- */

static const char usage[] = "pull REPO [PATH...] --into=/DIR, stage --from=/DIR [PATH...] "
			    "--repo=REPO -m TEXT, show ID, push ID, discard ID";

static int misused(struct sb_error *err, const char *what, const char *word)
{
	sb_fail(err, SB_E_USAGE, 0, "--git: %s%s%s%s", what, word ? " '" : "", word ? word : "",
		word ? "'" : "");
	return sb_hint(err, "%s", usage);
}

/* "--into=X", or "--into X": where X is; NULL: it is another option. */
static const char *value_of(char *const **at, const char *name)
{
	const char *word = **at;
	size_t length = strlen(name);

	if (strncmp(word, name, length) != 0)
		return NULL;
	if (word[length] == '=')
		return word + length + 1;
	if (word[length] || !(*at)[1])
		return NULL;
	return *++*at;
}

static bool take_option(struct doing *doing, char *const **at)
{
	const struct {
		const char *name;
		const char **to;
		unsigned kind;
	} options[] = {
		{"--into", &doing->request.zone, ZONE},
		{"--from", &doing->request.zone, ZONE},
		{"--repo", &doing->request.repo, REPO},
		{"--branch", &doing->request.branch, BRANCH},
		{"-m", &doing->request.message, MESSAGE},
		{"--message", &doing->request.message, MESSAGE},
	};
	const unsigned takes = doing->act->takes | doing->act->needs;

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		const char *value = takes & options[i].kind ? value_of(at, options[i].name) : NULL;

		if (!value)
			continue;
		*options[i].to = value;
		return *value;
	}
	if (strcmp(**at, "--json") == 0)
		return doing->json = true;
	if ((takes & HOW) && strcmp(**at, "--new-branch") == 0)
		return doing->request.new_branch = true;
	if ((takes & HOW) && strcmp(**at, "--force") == 0)
		return doing->request.force = true;
	return false;
}

static int parse(struct doing *doing, struct sb_error *err)
{
	struct sb_repo_request *request = &doing->request;
	char *const *at = doing->line->command;
	size_t words = 0;
	bool plain = false;

	for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
		if (strcmp(acts[i].name, doing->line->action_value) == 0)
			doing->act = &acts[i];
	if (!doing->act)
		return misused(err, "there is no act", doing->line->action_value);
	doing->paths = calloc(sb_list_count(at) + 1, sizeof *doing->paths);
	if (!doing->paths)
		return sb_no_memory(err);
	for (; *at; at++) {
		if (plain || **at != '-')
			doing->paths[words++] = *at;
		else if (strcmp(*at, "--") == 0)
			plain = true;
		else if (!take_option(doing, &at))
			return misused(err, "not an option of this act, or without a value:", *at);
	}
	/* the first word of pull is the repository, the only one of the last three the ID */
	if (words && (doing->act->needs & ID || !(doing->act->needs & MESSAGE))) {
		*(doing->act->needs & ID ? &request->id : &request->repo) = doing->paths[0];
		memmove(doing->paths, doing->paths + 1, words * sizeof *doing->paths);
		words--;
	}
	request->paths = doing->paths;
	if (words && !(doing->act->takes & PATHS))
		return misused(err, "one ID, and not also", doing->paths[0]);
	if ((doing->act->needs & REPO && !request->repo) ||
	    (doing->act->needs & ZONE && !request->zone) ||
	    (doing->act->needs & MESSAGE && !request->message) ||
	    (doing->act->needs & ID && !request->id))
		return misused(err, "something is missing", NULL);
	return SB_OK;
}

/* --- the record --------------------------------------------------------------------------------------- */

static void record(struct doing *doing, struct sb_event *event)
{
	event->process = getpid();
	if (doing->audit && sb_audit_write(doing->audit, event, NULL) != SB_OK)
		sb_warn("the record is incomplete");
}

static int open_record(struct doing *doing, struct sb_error *err)
{
	const struct sb_home *home = &doing->setup.home;
	const char *words[64] = {"sandbash", "--git", doing->line->action_value};
	struct sb_event start = {.kind = SB_EVENT_START, .command = words, .directory = home->cwd};
	int status = sb_audit_open(home->state_dir, NULL, &doing->audit, err);

	for (size_t i = 0; doing->line->command[i] && i + 4 < sizeof words / sizeof words[0]; i++)
		words[3 + i] = doing->line->command[i];
	if (status == SB_OK)
		record(doing, &start);
	else
		doing->audit = NULL;
	if (status != SB_OK && doing->line->require_audit)
		return status;
	return SB_OK;
}

/* What became of it, and the end of the record. */
static void close_record(struct doing *doing, const struct sb_repo_result *result,
			 const struct sb_error *err, int status)
{
	const bool refused = err && err->code == SB_E_REFUSED;
	struct sb_event event = {.kind = refused ? SB_EVENT_DENY
					 : err   ? SB_EVENT_NOTE
						 : SB_EVENT_PERFORM,
				 .op = sb_op_name(doing->act->op),
				 .act = doing->act->words,
				 .path = result->repo ? result->repo : doing->request.repo,
				 .target = doing->request.zone,
				 .verdict = refused ? "deny"
					    : err   ? NULL
						    : "allow",
				 .note = err ? err->message : result->commit};
	struct sb_event end = {.kind = SB_EVENT_EXIT, .has_status = true, .status = status};

	if (result->id[0])
		event.given = result->id;
	record(doing, &event);
	record(doing, &end);
	sb_audit_close(doing->audit);
}

/* --- asking ---------------------------------------------------------------------------------------------- */

static int put(struct doing *doing, struct sb_question *question, struct sb_error *err)
{
	struct sb_event event = {.kind = SB_EVENT_ASK,
				 .question = ++doing->questions,
				 .op = sb_op_name(question->op),
				 .act = doing->act->words,
				 .path = question->path};
	bool yes = false;
	int status;

	question->id = event.question;
	question->program = "sandbash --git";
	question->process = getpid();
	question->project = doing->project.directory;
	record(doing, &event);
	status = sb_ask_here(doing->line, &doing->setup.home, question, &yes, err);
	doing->nobody = status != SB_OK;
	event.kind = SB_EVENT_ANSWER;
	event.answer = sb_answer_name(yes ? SB_ANSWER_ONCE : SB_ANSWER_DENY);
	event.verdict = yes ? "allow" : "deny";
	event.by = status == SB_OK ? "terminal" : "nobody";
	record(doing, &event);
	if (status != SB_OK || yes)
		return status;
	return sb_fail(err, SB_E_REFUSED, 0, "you said no");
}

static int ask(void *context, const struct sb_repo_about *about, struct sb_error *err)
{
	struct sb_question question = {
		.op = about->op,
		.about = SB_ABOUT_REPO,
		.verb = about->verb,
		.path = about->path,
		.rule = about->op == SB_READ ? NULL : "built-in: what others get is asked about",
		.content = about->content,
		.content_length = about->content_length};

	for (size_t i = 0; i < about->note_count && i < SB_QUESTION_NOTES; i++)
		question.notes[i] = about->notes[i];
	return put(context, &question, err);
}

/* A name in the zone that a program outside would obey. */
static enum sb_files_answer consent(void *context, const struct sb_files_question *asked)
{
	struct doing *doing = context;
	struct sb_question question = {
		.op = asked->op,
		.verb = sb_question_verb(asked->op),
		.path = asked->path,
		.about = asked->why == SB_FILES_WHY_GUARDED ? SB_ABOUT_RUN_LATER : SB_ABOUT_FILE,
		.rule = asked->rule ? asked->rule->origin : NULL,
		.notes = {asked->reason},
		.content = asked->content,
		.content_length = asked->content_length};
	struct said_yes *yes = calloc(1, sizeof *yes);
	struct sb_sha256 sum;
	struct sb_error err;

	if (!yes)
		return SB_FILES_ANSWER_NO;
	sb_sha256_init(&sum);
	sb_sha256_add(&sum, &asked->op, sizeof asked->op);
	sb_sha256_add(&sum, asked->path, strlen(asked->path) + 1);
	sb_sha256_add(&sum, asked->content ? asked->content : "", asked->content_length);
	sb_sha256_end(&sum, yes->what);
	for (const struct said_yes *one = doing->yes; one; one = one->next)
		if (strcmp(one->what, yes->what) == 0) {
			free(yes);
			return SB_FILES_ANSWER_YES;
		}
	if (put(doing, &question, &err) != SB_OK) {
		free(yes);
		return doing->nobody ? SB_FILES_ANSWER_NOBODY : SB_FILES_ANSWER_NO;
	}
	yes->next = doing->yes;
	doing->yes = yes;
	return SB_FILES_ANSWER_YES;
}

/* --- doing it ------------------------------------------------------------------------------------------ */

static int print(const struct doing *doing, struct sb_repo_result *result)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_json json;

	if (!doing->json) {
		if (doing->act->run == sb_repo_stage)
			sb_buf_printf(&out, "%s\n", result->id);
		sb_buf_append(&out, result->text.data, result->text.length);
		return sb_print(&out);
	}
	json = sb_json_object(&out);
	sb_json_pair(&json, "id", result->id[0] ? result->id : NULL);
	sb_json_pair(&json, "commit", result->commit);
	sb_json_pair(&json, "repo", result->repo);
	sb_json_pair(&json, "branch", *result->branch ? result->branch : NULL);
	sb_json_pair_int(&json, "files", (long)result->files);
	sb_json_pair_int(&json, "leftOut", (long)result->left_out);
	sb_json_pair(&json, "text", result->text.data);
	sb_json_close(&json, '}');
	return sb_print(&out);
}

static int run(struct doing *doing)
{
	const struct sb_setup *setup = &doing->setup;
	struct sb_repo_session session = {
		.setup = setup,
		.search = getenv("PATH"),
		.ssh_agent = getenv("SSH_AUTH_SOCK"),
		.zones = doing->line->worker ? &doing->has : &doing->project.zones,
		.files = sb_files_for(&setup->home, consent, NULL, doing),
		.network_off = doing->line->worker && !doing->worker.network,
		.best_effort = doing->line->best_effort,
		.ask = ask,
		.context = doing,
	};
	SB_AUTO(sb_repo_result_done) struct sb_repo_result result = {0};
	struct sb_error err;
	int status = open_record(doing, &err);

	if (status == SB_OK)
		status = doing->act->run(&session, &doing->request, &result, &err);
	if (status == SB_OK) {
		close_record(doing, &result, NULL, 0);
		status = print(doing, &result);
	} else {
		close_record(doing, &result, &err, SB_EXIT_FAILURE);
		status = sb_report(&err);
	}
	return status;
}

int sb_cli_git(const struct sb_command_line *line)
{
	struct doing doing = {.line = line};
	SB_AUTO_FREE char *top = NULL;
	struct sb_error err;
	int status;

	if (parse(&doing, &err) != SB_OK) {
		free(doing.paths);
		return sb_report(&err);
	}
	status = sb_set_up(line, true, &doing.setup);
	if (status) {
		free(doing.paths);
		return status;
	}
	status = sb_project_find(doing.setup.projects[0], doing.setup.home.home, &top, &err);
	if (status == SB_OK)
		status = sb_project_load(top, &doing.project, &err);
	if (status == SB_OK && line->worker)
		status = sb_worker_load(line->worker, &doing.worker, &err);
	if (status == SB_OK && line->worker)
		status = sb_worker_grant(&doing.worker, &doing.project.zones, NULL, &doing.has,
					 &err);
	if (status == SB_OK && line->worker)
		sb_zones_tighten(&doing.has, doing.setup.policy);
	status = status == SB_OK ? run(&doing) : sb_report(&err);
	sb_zones_done(&doing.has);
	sb_worker_done(&doing.worker);
	sb_project_done(&doing.project);
	while (doing.yes) {
		struct said_yes *next = doing.yes->next;

		free(doing.yes);
		doing.yes = next;
	}
	free(doing.paths);
	sb_setup_done(&doing.setup);
	return status;
}
