#include "guard/git_keys.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/each.h"
#include "base/escape.h"
#include "base/words.h"
#include "guard/git_config.h"
#include "guard/git_files.h"
#include "guard/git_forms.h"
#include "guard/git_hides.h"
#include "guard/git_url.h"

enum test {
	ANY_VALUE,
	URL,     /* git_url.h: no remote helper, nothing that looks like an option */
	WORD,    /* nothing that looks like an option */
	NAME,    /* letters, digits and ._/- that no shell expands */
	NO_BANG, /* no command */
	SWITCH,  /* yes or no: anything else would be a command */
	OFF,     /* "false": git before 2.36 runs even "true" */
	FORMAT,  /* of a line of git log: no characters by their number, which may be an escape */
	BRANCH,  /* a name that no shell expands: prompts show it */
	FETCH,   /* a refspec that ends in no branch of the user's */
	REFSPEC, /* such names, at both sides of ":": git status shows what a branch tracks */
	SIGNER,  /* the name of a key, no file and no option */
	INNER,   /* a file of the work tree, with lists of ids */
	SHARED,  /* core.sharedRepository: nobody but the group gets a right */
	INSIDE,  /* a path in guarded roots */
};

/*
 * Keys that begin like this, where "*" is any subsection; their last parts, all of them if that is "*".
 *
 * Gone through with "git help --config" of git 2.39 and the manuals up to 2.51.  Not here is what
 * names a program, a file or a directory; what leads elsewhere (insteadOf, proxies, lfs.url); what takes a
 * check away (protectNTFS, sslVerify, fsck.*, trustctime); and what sounds harmless and is not:
 *     rebase.instructionFormat   "%n" in it makes lines of the list of steps: exec
 *     pager.CMD                  a program, but for yes and no
 *     merge.tool, diff.tool      a file that git mergetool reads as a script
 *     pull.twohead, pull.octopus git-merge-NAME is run
 *     help.autoCorrect           runs another command than was typed
 *     gc.recentObjectsHook, gc.repackFilterTo  among so many numbers
 *     gitflow.path.hooks         among names of branches
 *     format.suffix              part of a file's name
 *     receive.procReceiveRefs    makes a hook run
 */
static const struct {
	const char *before;
	enum test test;
	const char *names;
} harmless[] = {
	/* what init and clone write */
	{"core.", ANY_VALUE,
	 "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode "
	 "symlinks"},
	{"core.", SHARED, "sharedrepository"},
	{"core.", INSIDE, "worktree"}, /* git checkout writes there */
	{"core.", OFF, "fsmonitor"},
	{"extensions.", ANY_VALUE,
	 "worktreeconfig objectformat compatobjectformat relativeworktrees preciousobjects"},
	{"extensions.", NAME, "refstorage"},  /* since 2.54 a URI leads to another directory */
	{"extensions.", URL, "partialclone"}, /* a remote's name */
	{"receive.", ANY_VALUE,
	 "denynonfastforwards denycurrentbranch denydeletes denydeletecurrent fsckobjects autogc "
	 "unpacklimit advertiseatomic advertisepushoptions maxinputsize shallowupdate "
	 "updateserverinfo keepalive"},
	{"uploadpack.", ANY_VALUE,
	 "allowfilter allowanysha1inwant allowreachablesha1inwant allowtipsha1inwant "
	 "allowrefinwant keepalive"},
	/* how files are checked out, listed and kept */
	{"core.", ANY_VALUE,
	 "autocrlf eol safecrlf sparsecheckout sparsecheckoutcone untrackedcache quotepath abbrev "
	 "longpaths whitespace commentchar commentstring commitgraph multipackindex splitindex "
	 "preloadindex compression loosecompression bigfilethreshold deltabasecachelimit "
	 "packedgitlimit packedgitwindowsize packedrefstimeout filesreflocktimeout fsync "
	 "fsyncmethod fsyncobjectfiles hidedotfiles warnambiguousrefs maxtreedepth"},
	{"core.", BRANCH, "notesref"},
	{"core.", NAME, "checkroundtripencoding"},
	{"index.", ANY_VALUE,
	 "sparse version threads recordendofindexentries recordoffsettable skiphash"},
	{"splitindex.", ANY_VALUE, "maxpercentchange sharedindexexpire"},
	{"sparse.", ANY_VALUE, "expectfilesoutsideofpatterns"},
	{"checkout.", ANY_VALUE, "guess workers thresholdforparallelism"},
	{"checkout.", URL, "defaultremote"},
	{"feature.", ANY_VALUE, "experimental manyfiles"},
	/* remotes and branches; uploadpack, receivepack, vcs, proxy and mergeoptions are not here */
	{"remote.*.", URL, "url pushurl"},
	{"remote.*.", FETCH, "fetch"},
	{"remote.*.", REFSPEC, "push"},
	{"remote.*.", WORD, "partialclonefilter gh-resolved"},
	{"remote.*.", ANY_VALUE,
	 "tagopt prune prunetags mirror promisor skipdefaultupdate skipfetchall followremotehead"},
	{"remote.", URL, "pushdefault"},
	{"branch.*.", URL, "remote pushremote"}, /* may be a URL itself */
	{"branch.*.", BRANCH, "merge"},
	{"branch.*.", ANY_VALUE, "rebase description"},
	{"branch.*.", BRANCH, "gh-merge-base vscode-merge-base gk-merge-base gk-merge-target"},
	{"branch.*.", WORD, "github-pr-owner-number gk-last-accessed gk-last-modified"},
	{"branch.", ANY_VALUE, "autosetupmerge autosetuprebase sort"},
	{"gitflow.branch.", NAME, "*"},
	{"gitflow.prefix.", NAME, "*"},
	{"submodule.*.", URL, "url"},
	{"submodule.*.", ANY_VALUE, "active ignore fetchrecursesubmodules"},
	{"submodule.*.", WORD, "branch"},
	{"submodule.*.", NO_BANG, "update"},
	{"submodule.", WORD, "active"},
	{"submodule.", ANY_VALUE,
	 "recurse fetchjobs propagatebranches alternatelocation alternateerrorstrategy "
	 "stickyrecursiveclone"},
	{"fetch.", ANY_VALUE,
	 "prune prunetags parallel output all recursesubmodules showforcedupdates unpacklimit "
	 "writecommitgraph negotiationalgorithm fsckobjects"},
	{"transfer.", ANY_VALUE, "fsckobjects unpacklimit advertisesid advertiseobjectinfo"},
	{"clone.", WORD, "defaultremotename"},
	{"clone.", ANY_VALUE, "rejectshallow filtersubmodules"},
	{"protocol.", ANY_VALUE, "version"},
	{"http.", ANY_VALUE,
	 "postbuffer lowspeedlimit lowspeedtime maxrequests minsessions version"},
	{"http.*.", ANY_VALUE,
	 "postbuffer lowspeedlimit lowspeedtime maxrequests minsessions version"},
	{"credential.", WORD, "username"},
	{"credential.*.", WORD, "username"},
	{"credential.", ANY_VALUE, "usehttppath"},
	{"credential.*.", ANY_VALUE, "usehttppath"},
	/* who commits, and how commands behave */
	{"user.", ANY_VALUE, "name email useconfigonly"},
	{"user.", SIGNER, "signingkey"},
	{"author.", ANY_VALUE, "name email"},
	{"committer.", ANY_VALUE, "name email"},
	{"init.", BRANCH, "defaultbranch"},
	{"init.", NAME, "defaultobjectformat defaultrefformat"},
	{"add.", ANY_VALUE, "ignoreerrors"},
	{"am.", ANY_VALUE, "keepcr threeway messageid"},
	{"apply.", ANY_VALUE, "ignorewhitespace whitespace"},
	{"commit.", ANY_VALUE, "cleanup gpgsign status verbose"},
	{"tag.", ANY_VALUE, "gpgsign forcesignannotated sort"},
	{"gpg.", NAME, "format"},
	{"versionsort.", ANY_VALUE, "suffix prereleasesuffix"},
	{"pull.", ANY_VALUE, "rebase ff"},
	{"push.", ANY_VALUE,
	 "default autosetupremote followtags gpgsign negotiate recursesubmodules usebitmaps "
	 "useforceifincludes"},
	{"merge.", ANY_VALUE,
	 "ff conflictstyle renames renamelimit directoryrenames renormalize autostash branchdesc "
	 "defaulttoupstream log stat suppressdest verbosity verifysignatures"},
	{"mergetool.", ANY_VALUE, "keepbackup keeptemporaries prompt hideresolved writetotemp"},
	{"difftool.", ANY_VALUE, "prompt trustexitcode"},
	{"rebase.", ANY_VALUE,
	 "autostash autosquash updaterefs abbreviatecommands backend forkpoint "
	 "missingcommitscheck reschedulefailedexec stat rebasemerges maxlabellength"},
	{"rerere.", ANY_VALUE, "enabled autoupdate"},
	{"revert.", ANY_VALUE, "reference"},
	{"worktree.", ANY_VALUE, "guessremote userelativepaths"},
	{"notes.", WORD, "displayref rewriteref"},
	{"notes.", NAME, "mergestrategy rewritemode"},
	{"notes.*.", NAME, "mergestrategy"},
	{"notes.rewrite.", ANY_VALUE, "*"},
	/* what is shown; what hides something is told besides: git_hides.c */
	{"advice.", ANY_VALUE, "*"},
	{"color.", ANY_VALUE, "*"},
	{"color.*.", ANY_VALUE, "*"},
	{"column.", ANY_VALUE, "*"},
	{"pager.", SWITCH, "*"},
	{"diff.", ANY_VALUE,
	 "algorithm renames renamelimit colormoved colormovedws context interhunkcontext dirstat "
	 "indentheuristic mnemonicprefix noprefix srcprefix dstprefix relative statgraphwidth "
	 "statnamewidth submodule suppressblankempty wordregex wserrorhighlight autorefreshindex "
	 "ignoresubmodules"},
	{"diff.*.", ANY_VALUE, "xfuncname funcname wordregex"},
	{"status.", ANY_VALUE,
	 "showuntrackedfiles aheadbehind branch displaycommentprefix relativepaths renamelimit "
	 "renames short showstash submodulesummary"},
	{"log.", ANY_VALUE,
	 "abbrevcommit date decorate diffmerges excludedecoration follow graphcolors "
	 "initialdecorationset mailmap showroot"},
	{"pretty.", FORMAT, "*"},
	{"format.", FORMAT, "pretty"},
	{"format.", ANY_VALUE,
	 "coverletter numbered signoff thread useautobase subjectprefix filenamemaxlength "
	 "encodeemailheaders coverfromdescription forceinbodyfrom mboxrd noprefix"},
	{"stash.", ANY_VALUE, "showincludeuntracked showpatch showstat"},
	{"grep.", ANY_VALUE,
	 "column extendedregexp fallbacktonoindex fullname linenumber patterntype threads"},
	{"blame.", ANY_VALUE,
	 "blankboundary coloring date markignoredlines markunblamablelines showemail showroot"},
	{"blame.", INNER, "ignorerevsfile"},
	{"showbranch.", WORD, "default"},
	{"interactive.", ANY_VALUE, "singlekey"},
	{"i18n.", NAME, "commitencoding logoutputencoding"},
	{"mailinfo.", ANY_VALUE, "scissors quotedcr"},
	{"tar.", ANY_VALUE, "umask"},
	/* housekeeping */
	{"gc.", ANY_VALUE,
	 "auto autodetach autopacklimit aggressivedepth aggressivewindow bigpackthreshold "
	 "cruftpacks logexpiry maxcruftsize packrefs pruneexpire reflogexpire "
	 "reflogexpireunreachable rerereresolved rerereunresolved worktreepruneexpire "
	 "writecommitgraph"},
	{"gc.*.", ANY_VALUE, "reflogexpire reflogexpireunreachable"},
	{"maintenance.", ANY_VALUE, "auto autodetach strategy"},
	{"maintenance.*.", ANY_VALUE, "enabled schedule auto"},
	{"commitgraph.", ANY_VALUE,
	 "generationversion maxnewfilters readchangedpaths changedpathsversion"},
	{"pack.", ANY_VALUE,
	 "allowpackreuse compression deltacachelimit deltacachesize depth indexversion "
	 "packsizelimit prefer threads usebitmaps usesparse usepathwalk window windowmemory "
	 "writebitmaphashcache writebitmaplookuptable writereverseindex readreverseindex"},
	{"repack.", ANY_VALUE,
	 "cruftdepth cruftthreads cruftwindow cruftwindowmemory packkeptobjects "
	 "midxmustcontaincruft updateserverinfo usedeltabaseoffset usedeltaislands writebitmaps"},
	{"fastimport.", ANY_VALUE, "unpacklimit"},
	{"lsrefs.", ANY_VALUE, "unborn"},
	/* git-lfs; url, storage, customtransfer and extension are not here */
	{"lfs.", ANY_VALUE,
	 "repositoryformatversion locksverify allowincompletepush concurrenttransfers batch "
	 "dialtimeout tlstimeout activitytimeout keepalive fetchinclude fetchexclude "
	 "fetchrecentalways fetchrecentrefsdays fetchrecentcommitsdays fetchrecentremoterefs "
	 "pruneoffsetdays skipdownloaderrors setlockablereadonly"},
	{"lfs.*.", NAME, "access locksverify"},
};

static bool is_name(const char *value)
{
	for (const char *at = value; *at; at++)
		if (!strchr("._/-+", *at) && !(*at >= '0' && *at <= '9') &&
		    !((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z'))
			return false;
	return value[0] != '-';
}

static bool is_switch(const char *value)
{
	return !*value || sb_words_have_like("true false yes no on off 1 0", value, strlen(value));
}

/*
 * git_config_perm() of git: "2", "all" and the like, and numbers with a right for others, would make every
 * file that git writes anybody's to read, some to change.
 */
static bool is_shared_with_group(const char *value)
{
	char *end;
	unsigned long mode;

	if (is_switch(value) || strcmp(value, "umask") == 0 || strcmp(value, "group") == 0)
		return true;
	if (value[0] != '0')
		return false;
	mode = strtoul(value, &end, 8);
	return !*end && (mode & 0600) == 0600 && !(mode & ~0660ul);
}

static bool is_signer(const char *value)
{
	size_t length = strlen(value);
	char option[128] = "-S";

	if (length + 3 > sizeof option)
		return false;
	memcpy(option + 2, value, length + 1);
	return sb_git_sign_option_is_plain(option, length + 2);
}

/* One side of it may be missing, and a "*" stands for a part of a name. */
static bool is_refspec(const char *value)
{
	value += *value == '+' || *value == '^';
	for (;;) {
		size_t length = strcspn(value, ":");
		char side[512], *star;

		if (length >= sizeof side)
			return false;
		memcpy(side, value, length);
		side[length] = '\0';
		star = strchr(side, '*');
		if (star)
			*star = 'x';
		if (length && !sb_git_ref_is_plain(side, length))
			return false;
		if (!value[length])
			return true;
		value += length + 1;
	}
}

static bool passes(enum test test, const char *value)
{
	switch (test) {
	case URL:
		return sb_git_url_is_plain(value);
	case WORD:
		return value[0] != '-';
	case NAME:
		return is_name(value);
	case NO_BANG:
		return !strchr(value, '!');
	case OFF:
		return strcmp(value, "false") == 0;
	case SWITCH:
		return is_switch(value);
	case FORMAT:
		return !strstr(value, "%x");
	case BRANCH:
		return sb_git_ref_is_plain(value, strlen(value));
	case FETCH:
		return is_refspec(value) && sb_git_fetch_judge(value) != SB_GIT_FETCH_ASK;
	case REFSPEC:
		return is_refspec(value);
	case SIGNER:
		return is_signer(value);
	case INNER:
		return is_name(value) && value[0] != '/' && !strstr(value, "..");
	case SHARED:
		return is_shared_with_group(value);
	default:
		return true;
	}
}

/* Lines and tabs apart, nothing that a terminal obeys: git config --list shows it as it is. */
static bool is_visible(const char *value)
{
	while (*value) {
		size_t length = strcspn(value, "\t\n");

		if (!sb_utf8_all_visible(value, length))
			return false;
		value += length;
		value += strspn(value, "\t\n");
	}
	return true;
}

/*
 * SECURITY: the name in "section.NAME.key" is a value, too.
 *
 * Danger: git fetches by itself what a remote has promised, and hands the remote's name to another
 * git without "--" before it: [remote "--upload-pack=PROGRAM"] runs PROGRAM at the next checkout.
 * Prompts show the names of remotes and branches, and shells expand prompts.
 * Price: whoever calls a remote, a branch or a submodule like that is asked.
 * Held by: tests/supervise/guard.py, tests/supervise/git_keys.py
 */
static bool has_plain_subsection(const char *key)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');

	if (first == last)
		return true;
	if (first[1] == '-' || !sb_utf8_all_visible(first + 1, (size_t)(last - first) - 1))
		return false;
	for (const char *at = first + 1; at < last; at++)
		if (strchr("$`;|&<>'\"()\\", *at) || (at[0] == ':' && at[1] == ':'))
			return false;
	return true;
}

/* Is the key's beginning, up to its last dot and with it, this one? */
static bool begins_like(const char *key, size_t length, const char *before)
{
	const char *star;
	size_t start;

	if (*before != *key && *before != '*') /* most of the table */
		return false;
	star = strchr(before, '*');
	start = star ? (size_t)(star - before) : strlen(before);
	return strncmp(key, before, start) == 0 && (star ? length > start + 1 : length == start);
}

enum sb_key_verdict sb_git_key_judge(const char *key, const char *value)
{
	const char *last = strrchr(key, '.');

	if (!last || !last[1] || !has_plain_subsection(key) || !is_visible(value))
		return SB_KEY_ASK;
	for (size_t i = 0; i < SB_COUNT(harmless); i++) {
		if (!begins_like(key, (size_t)(last + 1 - key), harmless[i].before) ||
		    !(strcmp(harmless[i].names, "*") == 0 ||
		      sb_is_word(harmless[i].names, last + 1)))
			continue;
		if (harmless[i].test == INSIDE)
			return SB_KEY_PATH;
		return passes(harmless[i].test, value) ? SB_KEY_HARMLESS : SB_KEY_ASK;
	}
	return SB_KEY_ASK;
}

bool sb_gitmodules_key_is_harmless(const char *key, const char *value)
{
	if (!has_plain_subsection(key))
		return false;
	if (sb_git_key_is(key, "submodule", "update"))
		return passes(NO_BANG, value);
	if (sb_git_key_is(key, "submodule", "url"))
		return passes(URL, value);
	if (sb_git_key_is(key, "submodule", "path"))
		return passes(WORD, value);
	return true; /* git looks at no other key that could name a program */
}

bool sb_lfsconfig_key_is_url(const char *key)
{
	return sb_is_word("lfs.url lfs.pushurl", key) ||
	       sb_git_key_is(key, "remote", "lfsurl lfspushurl");
}

bool sb_lfsconfig_key_is_harmless(const char *key, const char *value)
{
	if (sb_lfsconfig_key_is_url(key))
		return passes(URL, value);
	return strncmp(key, "lfs.", 4) == 0 && sb_git_key_judge(key, value) == SB_KEY_HARMLESS;
}

bool sb_git_key_is_text(const char *key)
{
	return sb_is_word("core.excludesfile core.attributesfile commit.template mailmap.file "
			  "blame.ignorerevsfile user.signingkey safe.directory fsck.skiplist "
			  "maintenance.repo",
			  key);
}

bool sb_git_strategy_is_known(const char *name)
{
	return sb_is_word("octopus ort ours recursive resolve subtree theirs", name);
}
