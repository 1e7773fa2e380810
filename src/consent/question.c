#include "consent/question.h"

#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

const char *sb_question_verb(enum sb_op op)
{
	static const char *const verbs[] = {"read", "write to", "create", "delete"};

	return verbs[op];
}

enum sb_op sb_op_named(const char *name)
{
	enum sb_op op = name ? SB_READ : SB_OP_COUNT;

	while (op < SB_OP_COUNT && strcmp(sb_op_name(op), name) != 0)
		op++;
	return op;
}

const char *sb_answer_name(enum sb_answer answer)
{
	switch (answer) {
	case SB_ANSWER_ONCE:
		return "once";
	case SB_ANSWER_DIRECTORY:
		return "directory";
	case SB_ANSWER_DENY:
		return "deny";
	case SB_ANSWER_ALWAYS:
		return "always";
	case SB_ANSWER_NONE:
		break;
	}
	return "none";
}

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

size_t sb_question_size(const struct sb_question *question)
{
	size_t size = question->content ? question->content_length : 0;

	for (size_t i = 0; i < SB_QUESTION_TEXTS; i++)
		size += text_size(question->texts[i]);
	return size;
}

void sb_question_copy(const struct sb_question *question, char *texts, struct sb_question *out)
{
	*out = *question;
	for (size_t i = 0; i < SB_QUESTION_TEXTS; i++)
		if (question->texts[i]) {
			size_t size = text_size(question->texts[i]);

			out->texts[i] = memcpy(texts, question->texts[i], size);
			texts += size;
		}
	if (question->content)
		out->content = memcpy(texts, question->content, question->content_length);
}

void sb_question_wants(const struct sb_question *question, struct sb_buf *out)
{
	sb_buf_puts(out, " wants to ");
	sb_escape_append(out, question->verb, strlen(question->verb));
	sb_buf_putc(out, ' ');
	sb_escape_name(out, question->path, strlen(question->path));
	if (question->target) {
		sb_buf_puts(out, " -> ");
		sb_escape_name(out, question->target, strlen(question->target));
	}
}

const char *sb_question_covers(const struct sb_question *question)
{
	static const char *const words[] = {"everything", "all writing", "all deleting",
					    "all writing and deleting"};

	return words[question->opens & SB_OPENS_ALL];
}

const char *sb_question_means(const struct sb_question *question)
{
	switch (question->about) {
	case SB_ABOUT_RUN_LATER:
		return "programs outside the sandbox obey it, with all your rights";
	case SB_ABOUT_SERVICE:
		return "the service behind it does for this program what it does for you";
	case SB_ABOUT_AHEAD:
		return "what it then does there you are not asked about";
	case SB_ABOUT_PROJECT:
		return "what it then does there you are asked about only where a program outside "
		       "obeys it";
	case SB_ABOUT_HOST:
		return "it can send there what it can read, and get what it likes: sandbash does "
		       "not look";
	case SB_ABOUT_REPO:
		if (question->op == SB_READ)
			break;
		return "this is done now, once; whoever has the repository has it then, too";
	case SB_ABOUT_UNSANDBOXED:
		return "it can do all that you can, and sandbash does not stand in between";
	case SB_ABOUT_FILE:
	case SB_ABOUT_COUNT:
		break;
	}
	if (question->op == SB_READ)
		return "the program has what is in it, and can pass it on";
	if (question->op == SB_DELETE)
		return "what has this name now is gone: sandbash keeps no copy";
	if (question->op == SB_CREATE)
		return "it makes this name, and writes to it what it likes";
	return "this file is changed: sandbash keeps no copy of what it was";
}
