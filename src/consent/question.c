#include "consent/question.h"

const char *sb_answer_name(enum sb_answer answer)
{
	static const char *const names[] = {"none", "once", "directory", "deny", "always"};

	return names[answer];
}
