/* question_made.h - a question with everything in it that a message can carry. */
#ifndef QUESTION_MADE_H
#define QUESTION_MADE_H

#include "consent/attach_wire.h"

static inline struct sb_question question_of(unsigned long id)
{
	return (struct sb_question){.id = id,
				    .op = SB_CREATE,
				    .verb = "create",
				    .path = "/home/anna/\033[2Jx",
				    .program = "sh",
				    .process = 77,
				    .directory = id % 2 ? "/home/anna" : NULL,
				    .content = "a\0b",
				    .content_length = 3};
}

#endif
