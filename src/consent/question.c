#include "consent/question.h"

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
