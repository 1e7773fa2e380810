/*
 * tools_git.c - the rows of git's tools: files between repositories and the directories of a project's file, or of a worker.
 */
#include "mcp/tools/tools.h"

#define BRANCH(help_text)                                                                          \
	{                                                                                          \
		"branch", SB_PARAM_STRING, help_text                                               \
	}

static const struct sb_param pull_params[] = {
	{"repository", SB_PARAM_PATH, "A path, or a URL (https, http, git, ssh)", .required = true},
	{"into", SB_PARAM_PATH, "The directory to write to, as '/NAME' or beneath it",
	 .required = true},
	{"paths", SB_PARAM_STRINGS, "Files and directories in the repository; default: all"},
	BRANCH("Default: the repository's own"),
	{NULL},
};

static const struct sb_param stage_params[] = {
	{"repository", SB_PARAM_PATH, "A path, or a URL (https, http, git, ssh)", .required = true},
	{"from", SB_PARAM_PATH, "The directory to take files from, as '/NAME' or beneath it",
	 .required = true},
	{"message", SB_PARAM_STRING, "Of the commit", .required = true},
	{"paths", SB_PARAM_STRINGS,
	 "Files and directories in both; one that is named and missing is removed. Default: all "
	 "that is there"},
	BRANCH("That it is meant for; default: the repository's own"),
	{NULL},
};

static const struct sb_param id_params[] = {
	{"id", SB_PARAM_STRING, "From git_stage", .required = true}, {NULL}};

static const struct sb_param push_params[] = {
	{"id", SB_PARAM_STRING, "From git_stage", .required = true},
	BRANCH("Default: the one that it was staged for"),
	{"newBranch", SB_PARAM_BOOLEAN, "The branch must not be there yet"},
	{"force", SB_PARAM_BOOLEAN, "Also if commits of the branch would be lost from it"},
	{NULL},
};

#define OUTPUT                                                                                     \
	"{\"id\":{\"type\":\"string\"},\"commit\":{\"type\":\"string\"},\"branch\":{\"type\":"     \
	"\"string\"},\"files\":{\"type\":\"integer\"},\"leftOut\":{\"type\":\"integer\"}}"

const struct sb_tool sb_git_tools[] = {
	{"git_pull", "Pull Files from Git",
	 "Write files of a git repository, as they are at the end of a branch, into a directory. Links and "
	 "submodules are left out. The user is asked before a server is called or a repository elsewhere "
	 "is read.",
	 SB_TOOL_DESTROYS | SB_TOOL_IDEMPOTENT | SB_TOOL_OPEN_WORLD, pull_params, OUTPUT,
	 SB_TOOL_KEEPER, NULL},
	{"git_stage", "Stage Files for Git",
	 "Make a commit of files in a directory, for preview: returns its ID and a diff. No branch "
	 "changes.",
	 SB_TOOL_OPEN_WORLD, stage_params, OUTPUT, SB_TOOL_KEEPER, NULL},
	{"git_show", "Show What Is Staged", "The message and the diff of what git_stage has made.",
	 SB_TOOL_IDEMPOTENT, id_params, OUTPUT, SB_TOOL_KEEPER, NULL},
	{"git_push", "Push What Is Staged",
	 "Move a branch of the repository to what git_stage has made. The user sees the diff and is always "
	 "asked.",
	 SB_TOOL_DESTROYS | SB_TOOL_OPEN_WORLD, push_params, OUTPUT, SB_TOOL_KEEPER, NULL},
	{"git_discard", "Discard What Is Staged", "Drop what git_stage has made; files stay.",
	 SB_TOOL_DESTROYS, id_params, OUTPUT, SB_TOOL_KEEPER, NULL},
	{NULL},
};

bool sb_tool_is_git(const struct sb_tool *tool)
{
	return tool >= sb_git_tools &&
	       tool < sb_git_tools + sizeof sb_git_tools / sizeof sb_git_tools[0];
}
