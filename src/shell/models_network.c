/*
 * Programs that talk to other machines, and git.
 */
#include <string.h>

#include "base/words.h"
#include "shell/models.h"

void sb_model_online(struct sb_command *call)
{
	sb_network(call->shell, SB_PREVIEW_ONLINE);
	sb_command_whole(call, call->model->name);
}

/* What a URL's file would be called; NULL: it does not say. */
static struct sb_field *name_in(struct sb_command *call, const struct sb_field *url)
{
	const char *start = url->known == SB_KNOWN ? strrchr(url->text, '/') : NULL;
	const char *host = start ? strstr(url->text, "://") : NULL;
	size_t length = start ? strcspn(start + 1, "?#") : 0;
	struct sb_field *name;

	if (!length || (host && start < host + 3))
		return NULL;
	name = sb_field_new(call->shell, SB_KNOWN, start + 1, length);
	if (name)
		name->word = url->word;
	return name;
}

/* curl puts --output-dir before any name, one that is absolute, too. */
static struct sb_field *output_in(struct sb_command *call, const struct sb_field *dir,
				  const struct sb_field *name)
{
	struct sb_field *made = sb_field_with(call->shell, dir, "/");

	if (made)
		made = sb_field_with(call->shell, made, name->text);
	if (made && name->known != SB_KNOWN)
		made->known = SB_NOT_KNOWN;
	return made;
}

void sb_model_curl(struct sb_command *call)
{
	const struct sb_field *dir = call->value['Q'];
	size_t urls = 0;

	for (size_t i = 0; i < call->count; i++)
		if (call->operands[i]->known != SB_KNOWN ||
		    strncmp(call->operands[i]->text, "file://", 7) != 0)
			sb_network(call->shell, SB_PREVIEW_ONLINE);
	for (const struct sb_given_option *at = call->given; at; at = at->next) {
		const struct sb_field *value = at->value;

		if (value && strchr("oDc", at->letter) && !sb_field_is(value, "-"))
			sb_command_act(call, SB_PREVIEW_CREATE,
				       dir && at->letter == 'o' ? output_in(call, dir, value)
								: value,
				       dir && *value->text == '/' ? SB_POSSIBLE : SB_CERTAIN);
		else if (value && strchr("TK", at->letter))
			sb_command_act(call, SB_PREVIEW_READ, value, SB_CERTAIN);
		else if (value && strchr("dF", at->letter) && strchr(value->text, '@'))
			sb_command_act(call, SB_PREVIEW_READ, value, SB_UNKNOWN);
		if (at->letter == 'K')
			sb_command_unknown(call->shell, &(struct sb_field){.text = "curl -K"});
		if (at->letter == 'O' && urls < call->count) {
			struct sb_field *name = name_in(call, call->operands[urls]);

			if (name && dir)
				name = sb_field_into(call->shell, dir, name);
			sb_command_act(call, SB_PREVIEW_CREATE, name ? name : call->operands[urls],
				       name && !call->has['J'] ? SB_CERTAIN : SB_UNKNOWN);
			urls++;
		}
	}
}

void sb_model_wget(struct sb_command *call)
{
	const struct sb_field *dir = call->value['P'] ? call->value['P'] : &sb_field_here;

	if (call->count || call->has['i']) {
		sb_network(call->shell, SB_PREVIEW_ONLINE);
		sb_command_act(call, SB_PREVIEW_MODIFY,
			       sb_field_in_home(call->shell, "/.wget-hsts"), SB_POSSIBLE);
	}
	sb_command_value(call, SB_PREVIEW_READ, 'i');
	sb_command_value(call, SB_PREVIEW_CREATE, 'o');
	sb_command_value(call, SB_PREVIEW_MODIFY, 'a');
	if (call->value['O']) {
		if (!sb_field_is(call->value['O'], "-"))
			sb_command_act(call, SB_PREVIEW_CREATE, call->value['O'], SB_CERTAIN);
		return;
	}
	/* a server can name it, a second one of that name gets a number, and its log is wget-log */
	if ((call->count || call->has['i']) && !call->has['S'])
		sb_command_act(call, SB_PREVIEW_CREATE, sb_field_beneath(call->shell, dir),
			       SB_POSSIBLE);
	for (size_t i = 0; i < call->count && !call->has['r'] && !call->has['S']; i++) {
		struct sb_field *name = name_in(call, call->operands[i]);

		if (name)
			sb_command_act(call, SB_PREVIEW_CREATE,
				       sb_field_into(call->shell, dir, name), SB_POSSIBLE);
	}
}

/* --- git ------------------------------------------------------------------------------------------ */

enum git_does {
	GIT_LOOKS = 1, /* reads alone; the index may be refreshed */
	GIT_KEEPS = 2, /* changes what is in .git */
	GIT_TREE = 4,  /* changes files of the project */
	GIT_ONLINE = 8,
	GIT_RUNS = 16, /* hooks, editors, filters: programs that the words do not name */
};

static const struct {
	const char *name;
	int does;
} git_commands[] = {
	{"add", GIT_KEEPS | GIT_RUNS},
	{"am", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"apply", GIT_KEEPS | GIT_TREE},
	{"blame", GIT_LOOKS},
	{"branch", GIT_KEEPS},
	{"cat-file", GIT_LOOKS},
	{"checkout", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"cherry-pick", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"clean", GIT_TREE},
	{"commit", GIT_KEEPS | GIT_RUNS},
	{"describe", GIT_LOOKS},
	{"diff", GIT_LOOKS | GIT_RUNS},
	{"fetch", GIT_KEEPS | GIT_ONLINE | GIT_RUNS},
	{"grep", GIT_LOOKS},
	{"log", GIT_LOOKS | GIT_RUNS},
	{"ls-files", GIT_LOOKS},
	{"ls-remote", GIT_LOOKS | GIT_ONLINE},
	{"ls-tree", GIT_LOOKS},
	{"merge", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"merge-base", GIT_LOOKS},
	{"pull", GIT_KEEPS | GIT_TREE | GIT_ONLINE | GIT_RUNS},
	{"push", GIT_KEEPS | GIT_ONLINE | GIT_RUNS},
	{"rebase", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"reflog", GIT_KEEPS},
	{"reset", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"restore", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"rev-list", GIT_LOOKS},
	{"rev-parse", GIT_LOOKS},
	{"revert", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"shortlog", GIT_LOOKS},
	{"show", GIT_LOOKS | GIT_RUNS},
	{"stash", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"status", GIT_LOOKS | GIT_RUNS},
	{"switch", GIT_KEEPS | GIT_TREE | GIT_RUNS},
	{"tag", GIT_KEEPS | GIT_RUNS},
};

static int git_does(const struct sb_field *name)
{
	for (size_t i = 0; i < sizeof git_commands / sizeof git_commands[0]; i++)
		if (sb_field_is(name, git_commands[i].name))
			return git_commands[i].does;
	return 0;
}

/* The words behind "git mv" and the like that are no options. */
static const struct sb_field *next_operand(const struct sb_field *field)
{
	while (field && field->known == SB_KNOWN && field->text[0] == '-')
		field = field->next;
	return field;
}

static void git_moves(struct sb_command *call, const struct sb_field *fields, bool removes)
{
	const struct sb_field *at = next_operand(fields), *after;

	for (; at; at = after) {
		after = next_operand(at->next);
		if (removes)
			sb_command_act(call, SB_PREVIEW_DELETE, at, SB_POSSIBLE);
		else
			sb_command_act(call, after ? SB_PREVIEW_MOVE : SB_PREVIEW_CREATE, at,
				       SB_POSSIBLE);
	}
}

/* git clone URL [directory], git init [directory] */
static void git_makes(struct sb_command *call, const struct sb_field *fields, bool clone)
{
	const struct sb_field *url = clone ? next_operand(fields) : NULL;
	const struct sb_field *dir = next_operand(clone ? (url ? url->next : NULL) : fields);
	struct sb_field *name;

	if (clone && url && (url->known != SB_KNOWN || strchr(url->text, ':')))
		sb_network(call->shell, url->known == SB_KNOWN ? SB_PREVIEW_ONLINE
							       : SB_PREVIEW_NETWORK_POSSIBLE);
	if (clone && !dir && url) {
		name = name_in(call, url);
		if (name && sb_text_ends(name->text, ".git") && name->text[4])
			((char *)name->text)[strlen(name->text) - 4] = '\0';
		sb_command_act(call, SB_PREVIEW_CREATE, name ? name : url,
			       name ? SB_POSSIBLE : SB_UNKNOWN);
		return;
	}
	sb_command_act(call, SB_PREVIEW_CREATE,
		       dir ? dir : sb_field_with(call->shell, &sb_field_here, "/.git"),
		       SB_POSSIBLE);
}

void sb_model_git(struct sb_command *call)
{
	struct sb_shell_state *state = &call->shell->state;
	const struct sb_shell_state before = *state;
	struct sb_field git = {.text = ".git", .known = SB_KNOWN};
	const struct sb_field *name = call->rest;
	int does = name ? git_does(name) : GIT_LOOKS;

	for (const struct sb_given_option *at = call->given; at; at = at->next)
		if (at->letter == 'C' && at->value)
			sb_directory_enter(call->shell, at->value);
	if (sb_field_is(name, "mv") || sb_field_is(name, "rm")) {
		git_moves(call, name->next, sb_field_is(name, "rm"));
		does = GIT_KEEPS;
	} else if (sb_field_is(name, "clone") || sb_field_is(name, "init")) {
		git_makes(call, name->next, sb_field_is(name, "clone"));
		does = GIT_RUNS;
	} else if (!does || call->doubt || call->has['c'] || call->has['G']) {
		does |= GIT_RUNS; /* an alias, a program of its own, settings that name programs */
		sb_network(call->shell, SB_PREVIEW_NETWORK_UNKNOWN);
	}
	git.word = name ? name->word : NULL;
	/* the repository may lie in any directory above */
	if (does & (GIT_KEEPS | GIT_LOOKS))
		sb_command_act(call, SB_PREVIEW_MODIFY, &git, SB_POSSIBLE);
	if (does & GIT_TREE)
		sb_command_act(call, SB_PREVIEW_MODIFY,
			       sb_field_beneath(call->shell, &sb_field_here), SB_POSSIBLE);
	if (does & GIT_ONLINE)
		sb_network(call->shell, SB_PREVIEW_ONLINE);
	if (does & (GIT_RUNS | GIT_KEEPS | GIT_TREE) || !does)
		sb_command_whole(call, "git");
	*state = before;
}
