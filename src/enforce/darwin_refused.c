#include "enforce/darwin_refused.h"

#include <string.h>

static const struct {
	const char *name;
	enum sb_op op;
} operations[] = {
	{"file-write-create", SB_CREATE}, {"file-write-unlink", SB_DELETE},
	{"file-write-data", SB_MODIFY},   {"file-write-mode", SB_MODIFY},
	{"file-write-owner", SB_MODIFY},  {"file-write-flags", SB_MODIFY},
	{"file-write-times", SB_MODIFY},  {"file-write-xattr", SB_MODIFY},
};

/* Behind "(digits) ", which at begins with; NULL: it does not. */
static const char *behind_number(const char *at)
{
	size_t digits = *at == '(' ? strspn(at + 1, "0123456789") : 0;

	return digits && strncmp(at + 1 + digits, ") ", 2) == 0 ? at + digits + 3 : NULL;
}

bool sb_refused_parse(const char *line, struct sb_refused *out)
{
	static const char begin[] = "Sandbox: ", deny[] = "deny";
	const char *at = strstr(line, begin), *next;
	size_t length;

	if (!at)
		return false;
	at += sizeof begin - 1;
	length = strcspn(at, "(\n");
	if (!length || length >= sizeof out->program)
		return false;
	memcpy(out->program, at, length);
	out->program[length] = '\0';
	at = behind_number(at + length);
	if (!at || strncmp(at, deny, sizeof deny - 1) != 0)
		return false;
	at = behind_number(at + sizeof deny - 1);
	for (size_t i = 0; at && i < sizeof operations / sizeof operations[0]; i++) {
		length = strlen(operations[i].name);
		next = at + length;
		if (strncmp(at, operations[i].name, length) != 0 || strncmp(next, " /", 2) != 0)
			continue;
		next++;
		length = strcspn(next, "\n");
		if (length >= sizeof out->path)
			return false;
		memcpy(out->path, next, length);
		out->path[length] = '\0';
		out->op = operations[i].op;
		return true;
	}
	return false;
}

bool sb_refused_may_be_asked(const struct sb_policy *policy, const struct sb_refused *refused)
{
	/* as it would be written: nothing that the log has mended or cut */
	for (const char *name = refused->path; (name = strchr(name, '/')); name++) {
		size_t length = strcspn(name + 1, "/");

		if (!length || (length <= 2 && strspn(name + 1, ".") == length))
			return false;
	}
	return sb_decide(policy, refused->op, refused->path).verdict != SB_DENY;
}
