/*
 * worker - the files that a worker sees: list, read, write and delete them, as it or as one that it calls.
 *
 *     cc worker.c $(pkg-config --cflags --libs sandbash) -o worker
 *     ./worker formatter.worker ls /
 *     ./worker formatter.worker put /data/a.txt 'some text'
 *     ./worker formatter.worker checker.worker cat /data/a.txt
 *
 * What the project offers is in its golem-forge.config.yaml or sandbash.yaml.  What the worker's file has to be
 * asked about, a person at the terminal answers.  A worker in memory is
 *
 *     sb_workshop_open(sandbox, NULL, sb_files_memory_new(), &workshop, &err)
 */
#include <stdio.h>
#include <string.h>

#include <sandbash/worker.h>

static struct sb_files_error why; /* with room for paths; large */

static enum sb_files_answer ask(void *context, const struct sb_files_question *question)
{
	char answer[16] = "";

	(void)context;
	printf("%s '%s': %s. Allow? [y/N] ", sb_op_name(question->op), question->shown,
	       question->reason);
	fflush(stdout);
	if (!fgets(answer, sizeof answer, stdin))
		return SB_FILES_ANSWER_NOBODY;
	return answer[0] == 'y' ? SB_FILES_ANSWER_YES : SB_FILES_ANSWER_NO;
}

static int list(const struct sb_worker_view *worker, const char *path)
{
	static struct sb_files_entries entries;

	if (sb_worker_list(worker, path, &entries, &why) != 0)
		return 1;
	for (size_t i = 0; i < entries.count; i++)
		puts(entries.all[i].name);
	sb_files_entries_done(&entries);
	return 0;
}

static int show(const struct sb_worker_view *worker, const char *path)
{
	static struct sb_files_text text;

	if (sb_worker_read(worker, path, &text, &why) != 0)
		return 1;
	fwrite(text.data, 1, text.length, stdout);
	sb_files_text_done(&text);
	return 0;
}

static int act(const struct sb_worker_view *worker, char **words)
{
	int failed = 2;

	if (words[0] && words[1] && strcmp(words[0], "ls") == 0)
		failed = list(worker, words[1]);
	else if (words[0] && words[1] && strcmp(words[0], "cat") == 0)
		failed = show(worker, words[1]);
	else if (words[0] && words[1] && strcmp(words[0], "rm") == 0)
		failed = sb_worker_delete(worker, words[1], &why) != 0;
	else if (words[0] && words[1] && words[2] && strcmp(words[0], "put") == 0)
		failed = sb_worker_write(worker, words[1], words[2], strlen(words[2]), &why) != 0;
	if (failed == 1)
		fprintf(stderr, "worker: %s\n", why.person);
	if (failed == 2)
		fputs("usage: worker FILE [CHILD.worker] ls|cat|rm PATH | put PATH TEXT\n", stderr);
	return failed;
}

/* As the worker of words[0]; or, where one more is named, as that, which it calls. */
static int work(struct sb_workshop *workshop, char **words, struct sb_error *err)
{
	const struct sb_files_options options = {.size = sizeof options, .consent = ask};
	struct sb_worker_view *worker = NULL, *child = NULL;
	const char *dot = words[1] ? strrchr(words[1], '.') : NULL;
	bool calls = dot && strcmp(dot, ".worker") == 0;
	int status = sb_worker_open(workshop, words[0], &options, &worker, err);

	if (status == SB_OK && calls)
		status = sb_worker_delegate(worker, words[1], &child, err);
	if (status == SB_OK)
		status = act(child ? child : worker, words + 1 + calls);
	else
		fprintf(stderr, "worker: %s\n", err->message);
	sb_worker_close(child);
	sb_worker_close(worker);
	return status < 0 ? 1 : status;
}

int main(int argc, char **argv)
{
	struct sb_sandbox *sandbox = NULL;
	struct sb_workshop *workshop = NULL;
	struct sb_error err;
	int status = 1;

	if (argc < 2)
		return act(NULL, argv + argc);
	if (sb_sandbox_open(NULL, &sandbox, &err) != SB_OK ||
	    sb_workshop_open(sandbox, NULL, NULL, &workshop, &err) != SB_OK)
		fprintf(stderr, "worker: %s\n", err.message);
	else
		status = work(workshop, argv + 1, &err);
	sb_workshop_close(workshop);
	sb_sandbox_close(sandbox);
	return status;
}
