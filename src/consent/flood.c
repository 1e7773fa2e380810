#include "consent/flood.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/escape.h"
#include "consent/identity.h"

/* Programs that were ever asked about; a run that starts more is a flood of its own. */
#define MAX_PROGRAMS 256

struct program {
	char *name;
	unsigned streak;
	bool closed, said;
};

struct open_question {
	unsigned long id; /* 0: free */
	struct sb_flood_key key;
	size_t program;
};

struct sb_flood {
	struct program programs[MAX_PROGRAMS];
	size_t program_count;
	struct open_question open[SB_FLOOD_OPEN];
	unsigned streak; /* of all programs together */
	bool closed;
	bool said_closed, said_open, said_rate, said_programs;
	uint64_t tokens_ms; /* saved-up time; one question costs SB_FLOOD_REFILL_MS */
	uint64_t last_ms;
	bool started;
	char line[512];
};

/* --- equal questions ---------------------------------------------------------- */

static int add_wish(struct sb_buf *text, const struct sb_wish *wish, struct sb_error *err)
{
	struct stat info;

	if (fstat(wish->directory, &info) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot look at the directory of '%s'",
			       wish->path);
	/* Opening a file to change it or to make it is one thing to who is asked. */
	sb_buf_printf(text, "%d %d %d %ju:%ju %zu ", wish->op == SB_READ, wish->op == SB_DELETE,
		      wish->metadata, (uintmax_t)info.st_dev, (uintmax_t)info.st_ino,
		      strlen(wish->name));
	sb_buf_puts(text, wish->name);
	return SB_OK;
}

int sb_flood_key(const struct sb_wish *wish, const struct sb_wish *target, const char *content,
		 size_t content_length, struct sb_flood_key *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(8 * 1024); /* two names and a few numbers */
	char hex[SB_SHA256_HEX];
	int status = add_wish(&text, wish, err);

	if (status == SB_OK && target) {
		sb_buf_putc(&text, '\n');
		status = add_wish(&text, target, err);
	}
	if (status != SB_OK)
		return status;
	if (content) {
		sb_sha256_hex(content, content_length, hex);
		sb_buf_printf(&text, "\n%s", hex);
	}
	if (sb_buf_failed(&text))
		return sb_no_memory(err);
	sb_sha256_hex(text.data, text.length, out->hex);
	return SB_OK;
}

/* --- limits ------------------------------------------------------------------- */

struct sb_flood *sb_flood_new(void)
{
	return calloc(1, sizeof(struct sb_flood));
}

void sb_flood_free(struct sb_flood *flood)
{
	if (!flood)
		return;
	for (size_t i = 0; i < flood->program_count; i++)
		free(flood->programs[i].name);
	free(flood);
}

static struct program *find_program(struct sb_flood *flood, const char *name)
{
	struct program *program;

	for (size_t i = 0; i < flood->program_count; i++)
		if (strcmp(flood->programs[i].name, name) == 0)
			return &flood->programs[i];
	if (flood->program_count == MAX_PROGRAMS)
		return NULL;
	program = &flood->programs[flood->program_count];
	*program = (struct program){.name = strdup(name)};
	if (!program->name)
		return NULL;
	flood->program_count++;
	return program;
}

/* Deny, and say why unless that was said. */
static struct sb_flood_answer refuse(struct sb_flood *flood, bool *said, const char *why,
				     const char *program)
{
	char safe[200];

	if (*said)
		return (struct sb_flood_answer){SB_FLOOD_DENY};
	*said = true;
	if (program)
		snprintf(flood->line, sizeof flood->line, "'%s' %s",
			 sb_escape_line(safe, sizeof safe, program), why);
	else
		snprintf(flood->line, sizeof flood->line, "%s", why);
	return (struct sb_flood_answer){SB_FLOOD_DENY, .line = flood->line};
}

static void refill(struct sb_flood *flood, uint64_t now_ms)
{
	const uint64_t most = (uint64_t)SB_FLOOD_BURST * SB_FLOOD_REFILL_MS;

	if (!flood->started) {
		flood->started = true;
		flood->tokens_ms = most;
	} else if (now_ms > flood->last_ms) {
		uint64_t passed = now_ms - flood->last_ms;

		flood->tokens_ms = passed > most - flood->tokens_ms ? most
								    : flood->tokens_ms + passed;
	}
	if (now_ms > flood->last_ms)
		flood->last_ms = now_ms;
	if (flood->tokens_ms == most) /* a quiet time has passed: the next flood is news */
		flood->said_rate = false;
}

struct sb_flood_answer sb_flood_ask(struct sb_flood *flood, const struct sb_flood_key *key,
				    unsigned long id, const char *program, uint64_t now_ms)
{
	struct open_question *slot = NULL;
	struct program *asker;

	refill(flood, now_ms);
	if (flood->closed)
		return refuse(flood, &flood->said_closed,
			      "all of the last questions were denied; the rest is denied without "
			      "asking",
			      NULL);
	asker = find_program(flood, program);
	if (!asker)
		return refuse(flood, &flood->said_programs,
			      "too many different programs ask; those that are new are denied",
			      NULL);
	if (asker->closed)
		return refuse(flood, &asker->said,
			      "was denied many times in a row; the rest is denied without asking",
			      program);
	for (size_t i = 0; i < SB_FLOOD_OPEN; i++) {
		if (!flood->open[i].id)
			slot = &flood->open[i];
		else if (memcmp(flood->open[i].key.hex, key->hex, sizeof key->hex) == 0)
			return (struct sb_flood_answer){SB_FLOOD_JOIN, flood->open[i].id};
	}
	if (!slot)
		return refuse(flood, &flood->said_open,
			      "too many questions wait for an answer; further ones are denied",
			      NULL);
	if (flood->tokens_ms < SB_FLOOD_REFILL_MS)
		return refuse(flood, &flood->said_rate,
			      "questions come faster than they can be read; some are denied", NULL);
	flood->tokens_ms -= SB_FLOOD_REFILL_MS;
	*slot = (struct open_question){
		.id = id, .key = *key, .program = (size_t)(asker - flood->programs)};
	return (struct sb_flood_answer){SB_FLOOD_ASK, id};
}

void sb_flood_answered(struct sb_flood *flood, unsigned long id, enum sb_answer answer)
{
	struct program *program = NULL;

	for (size_t i = 0; i < SB_FLOOD_OPEN && id; i++) {
		if (flood->open[i].id != id)
			continue;
		flood->open[i].id = 0;
		flood->said_open = false;
		program = &flood->programs[flood->open[i].program];
	}
	if (!program || answer == SB_ANSWER_NONE)
		return;
	if (answer != SB_ANSWER_DENY) {
		program->streak = flood->streak = 0;
		return;
	}
	program->closed |= ++program->streak >= SB_FLOOD_STREAK;
	flood->closed |= ++flood->streak >= SB_FLOOD_STREAK_ALL;
}
