/*
 * environ.h - --keep-env and --clean-env: a command that sees no more of the environment than it needs.
 *
 * Only the command: sandbash itself looks at all of it, since variables name what has to be
 * protected (SSH_AUTH_SOCK, KUBECONFIG, ...).
 */
#ifndef SB_OPTIONS_ENVIRON_H
#define SB_OPTIONS_ENVIRON_H

#include <stdbool.h>

/* What says nothing about this machine or its user: names as below.  Not LC_*, which may be called anything. */
#define SB_ENVIRON_PLAIN                                                                           \
	"PATH,HOME,USER,LOGNAME,SHELL,LANG,LANGUAGE,LC_ALL,LC_ADDRESS,LC_COLLATE,LC_CTYPE,"        \
	"LC_IDENTIFICATION,LC_MEASUREMENT,LC_MESSAGES,LC_MONETARY,LC_NAME,LC_NUMERIC,LC_PAPER,"    \
	"LC_TELEPHONE,LC_TIME,TZ,TERM,COLORTERM,NO_COLOR"

/* What a command needs to work, and nothing that could be a secret. */
#define SB_ENVIRON_USUAL                                                                           \
	SB_ENVIRON_PLAIN                                                                           \
	","                                                                                        \
	"XDG_RUNTIME_DIR,XDG_CONFIG_HOME,XDG_CACHE_HOME,XDG_DATA_HOME,XDG_STATE_HOME,EDITOR,"      \
	"PAGER,GOPATH,GOROOT,CARGO_HOME,RUSTUP_HOME,JAVA_HOME,NVM_DIR,PYENV_ROOT,VIRTUAL_ENV,"     \
	"CONDA_PREFIX,NODE_PATH,PKG_CONFIG_PATH,LD_LIBRARY_PATH,MAKEFLAGS,CC,CXX,CFLAGS,CXXFLAGS," \
	"LDFLAGS"

/*
 * Names of variables, separated by commas; a "*" at the end stands for the rest of a name.  What
 * sandbash itself tells the command belongs to them.
 */
struct sb_environ_names {
	bool usual;       /* --clean-env: those of SB_ENVIRON_USUAL, and */
	const char *more; /* --keep-env; or NULL */
	/* Hosts are reached by name or not at all: a proxy that variables name is not the command's to speak to. */
	bool no_proxy;
};

/* Remove every other variable; none of the three: none. */
void sb_environ_keep(const struct sb_environ_names *names);

/* Is this variable ("NAME=value") removed? */
bool sb_environ_removes(const struct sb_environ_names *names, const char *variable);

#endif
