/*
 * What variables and functions are, as far as it is known.
 */
#include <string.h>

#include "base/words.h"
#include "shell/shell.h"

/* Beyond so many a look at the list costs too much: then nothing is known. */
#define BINDINGS_MOST 512

static struct sb_binding *find(const struct sb_shell *shell, const char *name, size_t length,
			       bool function, bool *out_tired)
{
	size_t seen = 0;

	*out_tired = false;
	for (struct sb_binding *at = shell->state.bindings; at; at = at->next) {
		if (at->is_function == function && at->name_length == length &&
		    memcmp(at->name, name, length) == 0)
			return at;
		if (++seen > BINDINGS_MOST) {
			*out_tired = true;
			return NULL;
		}
	}
	return NULL;
}

/* Those that bash sets by itself, or that a run under sandbash has otherwise. */
static bool is_special(const char *name, size_t length)
{
	return (length >= 4 && memcmp(name, "BASH", 4) == 0) ||
	       (length >= 5 && memcmp(name, "EPOCH", 5) == 0) ||
	       (length >= 8 && memcmp(name, "SANDBASH", 8) == 0) ||
	       sb_words_have("RANDOM SRANDOM SECONDS LINENO UID EUID PPID HOSTNAME HOSTTYPE "
			     "MACHTYPE OSTYPE SHELLOPTS PIPESTATUS FUNCNAME GROUPS DIRSTACK IFS "
			     "OPTIND OPTERR OPTARG PATH TERM SHELL SHLVL _ REPLY COLUMNS LINES PS4 "
			     "TMPDIR TMP TEMP",
			     name, length);
}

static enum sb_knowledge known_text(const char *text, const char **out_text)
{
	*out_text = text;
	return text ? SB_KNOWN : SB_NOT_KNOWN;
}

static bool is(const char *name, size_t length, const char *what)
{
	return strlen(what) == length && memcmp(what, name, length) == 0;
}

/* $0, $1, ... */
static enum sb_knowledge get_argument(const struct sb_shell *shell, const char *name, size_t length,
				      const char **out_text)
{
	const struct sb_field *at = shell->state.arguments;
	size_t number = 0;

	if (!shell->state.arguments_known || length > 4)
		return SB_NOT_KNOWN;
	for (size_t i = 0; i < length; i++)
		number = number * 10 + (size_t)(name[i] - '0');
	if (!number)
		return SB_NOT_KNOWN;
	for (size_t i = 1; at; at = at->next, i++) {
		if (at->many)
			return SB_NOT_KNOWN;
		if (i == number) {
			*out_text = at->text;
			return at->known;
		}
	}
	*out_text = "";
	return SB_UNSET;
}

static enum sb_knowledge get_environment(const struct sb_shell *shell, const char *name,
					 size_t length, const char **out_text)
{
	if (!shell->environment || is_special(name, length))
		return SB_NOT_KNOWN;
	for (const char *const *at = shell->environment; *at; at++)
		if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
			return known_text(*at + length + 1, out_text);
	return SB_UNSET;
}

enum sb_knowledge sb_variable_get(const struct sb_shell *shell, const char *name, size_t length,
				  const char **out_text)
{
	struct sb_binding *found;
	bool tired;

	*out_text = "";
	if (!length)
		return SB_NOT_KNOWN;
	if (*name >= '0' && *name <= '9')
		return get_argument(shell, name, length, out_text);
	if (strchr("@*#?-$!", *name))
		return SB_NOT_KNOWN;
	found = find(shell, name, length, false, &tired);
	if (found) {
		*out_text = found->text;
		return found->known;
	}
	if (tired || shell->state.lost)
		return SB_NOT_KNOWN;
	if ((is(name, length, "PWD") || is(name, length, "OLDPWD")) &&
	    (shell->state.stayed || shell->state.strays))
		return SB_NOT_KNOWN;
	if (is(name, length, "PWD"))
		return known_text(shell->state.directory, out_text);
	if (is(name, length, "OLDPWD"))
		return known_text(shell->state.before, out_text);
	if (is(name, length, "HOME"))
		return known_text(shell->home, out_text);
	return get_environment(shell, name, length, out_text);
}

static struct sb_binding *bind(struct sb_shell *shell, const char *name, size_t length)
{
	struct sb_binding *made = sb_arena_alloc(shell->arena, sizeof *made);

	if (!made) {
		shell->state.lost = true;
		return NULL;
	}
	made->next = shell->state.bindings;
	made->name = name;
	made->name_length = (uint32_t)length;
	shell->state.bindings = made;
	return made;
}

void sb_variable_set(struct sb_shell *shell, const char *name, size_t length,
		     enum sb_knowledge known, const char *text)
{
	bool tired = false;
	const struct sb_binding *old = shell->alters ? find(shell, name, length, false, &tired)
						     : NULL;
	struct sb_binding *made = bind(shell, name, length);

	if (!made)
		return;
	made->altered = tired || (old && old->altered && known != SB_UNSET);
	made->known = made->altered ? SB_NOT_KNOWN : known;
	made->text = text;
	/* another program of the same name may be found from here on */
	if (is(name, length, "PATH") || is(name, length, "LD_PRELOAD"))
		shell->state.maybe = true;
	/* where these are set by hand, what bash sets itself is not known */
	if (is(name, length, "PWD") || is(name, length, "OLDPWD"))
		made->known = SB_NOT_KNOWN;
	shell->state.separators |= is(name, length, "IFS");
}

void sb_variable_alter(struct sb_shell *shell, const char *name, size_t length)
{
	struct sb_binding *made = bind(shell, name, length);

	if (!made)
		return;
	made->text = "";
	made->known = SB_NOT_KNOWN;
	made->altered = shell->alters = true;
}

bool sb_variable_given(const struct sb_shell *shell, const char *name)
{
	bool tired;
	const struct sb_binding *found = find(shell, name, strlen(name), false, &tired);

	return tired || (found && (found->known == SB_KNOWN ? *found->text != '\0'
							    : found->known != SB_UNSET));
}

struct sb_binding *sb_function_get(const struct sb_shell *shell, const char *name)
{
	static struct sb_binding unknown = {.is_function = true, .known = SB_NOT_KNOWN};
	bool tired;
	struct sb_binding *found = find(shell, name, strlen(name), true, &tired);

	return found || !tired ? found : &unknown;
}

void sb_function_set(struct sb_shell *shell, const char *name, size_t length,
		     const struct sb_node *body)
{
	struct sb_binding *made = bind(shell, name, length);

	if (!made)
		return;
	made->is_function = true;
	made->body = body;
}

void sb_shell_lose(struct sb_shell *shell)
{
	shell->state.lost = true;
	shell->state.separators = true;
	shell->state.bindings = NULL;
	shell->state.directory = NULL;
	shell->state.before = NULL;
	shell->state.arguments_known = false;
	shell->state.maybe = true;
}

void sb_shell_doubt(struct sb_shell *shell, const struct sb_shell_state *before)
{
	struct sb_shell_state *now = &shell->state;

	for (struct sb_binding *at = now->bindings; at && at != before->bindings; at = at->next) {
		at->known = SB_NOT_KNOWN;
		at->body = NULL;
	}
	if (now->directory != before->directory) {
		now->directory = NULL;
		now->before = NULL;
	}
	now->strays |= before->strays || now->stayed != before->stayed;
	if (now->arguments != before->arguments)
		now->arguments_known = false;
	now->strict |= before->strict;
}
