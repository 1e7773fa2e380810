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
