/*
 * The table of commands, in the order of strcmp.
 */
#include "shell/models.h"

#include <string.h>

#define READS SB_PREVIEW_READ
#define NOTHING (-1)
#define LAX SB_MODEL_LAX
#define OWN SB_MODEL_BUILTIN
#define FIRST SB_MODEL_FIRST
#define RAW SB_MODEL_RAW
#define TRUE_ SB_ENDS_TRUE
#define FALSE_ SB_ENDS_FALSE
#define WELL SB_ENDS_WELL
#define OPEN SB_ENDS_OPEN

#define COPY_WORDS                                                                                   \
	"archive=a backup?=b copy-contents force=f interactive=i link=l dereference=L no-clobber=n " \
	"no-dereference preserve? no-preserve: parents=k recursive=R reflink? remove-destination "   \
	"sparse: strip-trailing-slashes symbolic-link=s suffix:=S target-directory:=t "              \
	"no-target-directory=T update?=u verbose=v one-file-system=x attributes-only debug"
#define ZIP_LETTERS "123456789acdfhklLnNqrtvV"
#define ZIP_WORDS                                                                                  \
	"stdout=c decompress=d uncompress=d force=f keep=k list=l name no-name quiet recursive=r " \
	"test=t verbose fast best rm=R"
#define SHELL_LETTERS "abcefhiklmnprstuvxBCDEHPTo:O:"
#define SHELL_WORDS                                                                                \
	"login=l norc noprofile posix restricted verbose noediting rcfile:=L init-file:=L"
#define ONLINE(program)                                                                            \
	{                                                                                          \
		program, "", "", OPEN, LAX | RAW, NOTHING, 0, sb_model_online                      \
	}
#define READER(program, letters, words)                                                            \
	{                                                                                          \
		program, letters, words, WELL, LAX, READS, 0, NULL                                 \
	}
#define QUIET(program)                                                                             \
	{                                                                                          \
		program, "", "", WELL, LAX | RAW, NOTHING, 0, NULL                                 \
	}
#define QUIET_OWN(program)                                                                         \
	{                                                                                          \
		program, "", "", OPEN, LAX | RAW | OWN, NOTHING, 0, NULL                           \
	}

static const struct sb_model models[] = {
	{".", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_source},
	{":", "", "", TRUE_, OWN | RAW, NOTHING, 0, NULL},
	{"[", "", "", OPEN, OWN | RAW, NOTHING, 0, NULL},
	{"alias", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_lose},
	ONLINE("apt"),
	ONLINE("apt-get"),
	QUIET("arch"),
	{"awk", "F:v:f:", "field-separator:=F assign:=v file:=f", WELL, 0, NOTHING, 0,
	 sb_model_awk},
	READER("b2sum", "l:", "length:"),
	READER("base32", "w:", "wrap:"),
	READER("base64", "w:", "wrap:"),
	QUIET("basename"),
	{"bash", SHELL_LETTERS, SHELL_WORDS, OPEN, FIRST, NOTHING, 0, sb_model_shell},
	QUIET_OWN("bg"),
	{"break", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_break},
	{"builtin", "", "", OPEN, OWN | FIRST, NOTHING, 0, sb_model_command},
	{"bunzip2", ZIP_LETTERS, ZIP_WORDS, WELL, 0, NOTHING, 0, sb_model_gzip},
	{"bzip2", ZIP_LETTERS, ZIP_WORDS, WELL, 0, NOTHING, 0, sb_model_gzip},
	READER("cat", "", ""),
	{"cd", "LPe@", "", WELL, OWN, NOTHING, 0, sb_model_cd},
	{"chgrp", "cfvhRHLP",
	 "changes silent quiet verbose dereference no-dereference preserve-root "
	 "no-preserve-root reference:=F recursive=R",
	 WELL, 0, NOTHING, 0, sb_model_mode},
	{"chmod", "cfvRrwxXstugoa",
	 "changes silent quiet verbose preserve-root no-preserve-root "
	 "reference:=F recursive=R",
	 WELL, 0, NOTHING, 0, sb_model_mode},
	{"chown", "cfvhRHLP",
	 "changes silent quiet verbose dereference no-dereference from: "
	 "preserve-root no-preserve-root reference:=F recursive=R",
	 WELL, 0, NOTHING, 0, sb_model_mode},
	{"chrt", "abfimoprRT:P:D:v", "", OPEN, FIRST, NOTHING, 1, sb_model_wrap},
	READER("cksum", "a:l:", "algorithm: length:"),
	QUIET("clear"),
	{"cmp", "i:n:", "ignore-initial: bytes:", OPEN, LAX, READS, 0, NULL},
	READER("column", "s:t:o:c:N:R:", ""),
	READER("comm", "", "output-delimiter:"),
	{"command", "pvV", "", OPEN, OWN | FIRST, NOTHING, 0, sb_model_command},
	QUIET_OWN("compgen"),
	QUIET_OWN("complete"),
	{"continue", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_break},
	{"cp", "abdfHilLnPpRrsS:t:TuvxZ", COPY_WORDS, WELL, 0, NOTHING, 0, sb_model_copy},
	{"csplit", "f:b:kn:sz", "prefix:=P suffix-format: keep-files digits: quiet silent", WELL, 0,
	 NOTHING, 0, sb_model_split},
	{"curl",
	 "o:OD:c:T:K:d:F:H:X:A:b:e:u:x:m:r:w:y:Y:z:C:E:P:Q:t:UsSfLkvIijgGnNpRa01246#qJlBhVZ:",
	 "output:=o remote-name=O dump-header:=D cookie-jar:=c upload-file:=T config:=K data:=d "
	 "data-binary:=d data-raw: data-urlencode:=d form:=F header: request: user-agent: cookie: referer: "
	 "user: proxy: max-time: range: write-out: output-dir:=Q location silent show-error fail "
	 "insecure verbose head include remote-header-name=J compressed connect-timeout: retry: "
	 "create-dirs fail-with-body retry-delay: http1.1 http2 progress-bar url: cacert: json:",
	 WELL, 0, NOTHING, 0, sb_model_curl},
	READER("cut", "b:c:d:f:", "bytes: characters: delimiter: fields: output-delimiter:"),
	{"dash", SHELL_LETTERS, SHELL_WORDS, OPEN, FIRST, NOTHING, 0, sb_model_shell},
	{"date", "d:f:r:s:uRI::", "date: file:=r iso-8601? reference:=r rfc-2822 rfc-3339: utc",
	 WELL, 0, NOTHING, 0, NULL},
	{"dd", "", "", WELL, RAW, NOTHING, 0, sb_model_dd},
	{"declare", "aAfFgiIlnrtuxp", "", WELL, OWN, NOTHING, 0, sb_model_declare},
	QUIET("df"),
	{"diff", "C:U:I:x:X:S:F:W:D:",
	 "label: exclude: exclude-from: starting-file: from-file: to-file:", OPEN, LAX, READS, 0,
	 NULL},
	QUIET("dirname"),
	QUIET_OWN("dirs"),
	QUIET_OWN("disown"),
	ONLINE("dnf"),
	{"doas", "nsu:C:", "", OPEN, FIRST, NOTHING, 0, sb_model_sudo},
	READER("du",
	       "B:d:X:t:", "block-size: max-depth: exclude: exclude-from: threshold: files0-from:"),
	{"echo", "", "", WELL, OWN | RAW, NOTHING, 0, NULL},
	{"egrep", "e:f:m:A:B:C:d:D:",
	 "regexp:=e file:=f max-count: include: exclude: exclude-dir: "
	 "exclude-from: color? context: after-context: before-context:",
	 OPEN, LAX, NOTHING, 0, sb_model_grep},
	{"enable", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_lose},
	{"env", "iu:C:S:0v", "ignore-environment=i unset: chdir:=C split-string:=S null debug",
	 OPEN, FIRST, NOTHING, 0, sb_model_env},
	{"eval", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_eval},
	{"exec", "cla:", "", OPEN, OWN | FIRST, NOTHING, 0, sb_model_exec},
	{"exit", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_leave},
	READER("expand", "t:", "tabs:"),
	{"export", "fnp", "", WELL, OWN, NOTHING, 0, sb_model_declare},
	{"expr", "", "", OPEN, RAW, NOTHING, 0, NULL},
	QUIET("factor"),
	{"false", "", "", FALSE_, OWN | RAW, NOTHING, 0, NULL},
	QUIET_OWN("fg"),
	{"fgrep", "e:f:m:A:B:C:d:D:",
	 "regexp:=e file:=f max-count: include: exclude: exclude-dir: "
	 "exclude-from: color? context: after-context: before-context:",
	 OPEN, LAX, NOTHING, 0, sb_model_grep},
	{"file", "bEhiklLnNprsSzZ0f:F:m:P:e:",
	 "brief mime mime-type mime-encoding dereference files-from: "
	 "separator:",
	 WELL, 0, READS, 0, NULL},
	{"find", "", "", WELL, RAW, NOTHING, 0, sb_model_find},
	{"flock", "sxeunE:w:oc:FvVh",
	 "shared exclusive unlock nonblock timeout: wait: close "
	 "conflict-exit-code: command:=c no-fork verbose",
	 OPEN, FIRST, NOTHING, 1, sb_model_wrap},
	READER("fmt", "w:g:p:", "width:"),
	READER("fold", "w:", "width:"),
	QUIET("free"),
	{"gawk", "F:v:f:", "field-separator:=F assign:=v file:=f", WELL, 0, NOTHING, 0,
	 sb_model_awk},
	QUIET("getconf"),
	{"getopts", "", "", OPEN, OWN | RAW, NOTHING, 1, sb_model_assigns},
	{"git", "C:c:pP",
	 "git-dir:=G work-tree:=G namespace:=G bare=G no-pager paginate exec-path?=G "
	 "literal-pathspecs no-replace-objects no-optional-locks",
	 OPEN, FIRST, NOTHING, 0, sb_model_git},
	{"grep", "e:f:m:A:B:C:d:D:",
	 "regexp:=e file:=f max-count: include: exclude: exclude-dir: "
	 "exclude-from: color? context: after-context: before-context: binary-files: label:",
	 OPEN, LAX, NOTHING, 0, sb_model_grep},
	QUIET("groups"),
	{"gunzip", ZIP_LETTERS, ZIP_WORDS, WELL, 0, NOTHING, 0, sb_model_gzip},
	{"gzip", ZIP_LETTERS, ZIP_WORDS, WELL, 0, NOTHING, 0, sb_model_gzip},
	{"hash", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_lose},
	READER("head", "n:c:", "lines: bytes:"),
	READER("hexdump", "e:f:n:s:", "length: skip: format: format-file:"),
	QUIET("id"),
	{"install", "bcCdDg:m:o:psS:t:Tv",
	 "backup?=b compare=C directory=d group: mode: owner: "
	 "preserve-timestamps suffix:=S target-directory:=t no-target-directory=T verbose",
	 WELL, 0, NOTHING, 0, sb_model_install},
	{"ionice", "c:n:p:P:u:t", "class: classdata: pid:=p ignore", OPEN, FIRST, NOTHING, 0,
	 sb_model_wrap},
	QUIET_OWN("jobs"),
	READER("join", "1:2:j:o:t:a:e:v:", ""),
	{"kill", "", "", OPEN, OWN | RAW, NOTHING, 0, NULL},
	{"let", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_assigns},
	{"link", "", "", WELL, 0, NOTHING, 0, sb_model_link},
	{"ln", "bdFfiLnPrsS:t:Tv",
	 "backup?=b directory force=f interactive=i logical no-dereference=n physical "
	 "relative symbolic=s suffix:=S target-directory:=t no-target-directory=T verbose",
	 WELL, 0, NOTHING, 0, sb_model_link},
	{"local", "aAfFgiIlnrtuxp", "", WELL, OWN, NOTHING, 0, sb_model_declare},
	QUIET("locale"),
	QUIET("logname"),
	{"logout", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_leave},
	READER("ls", "I:w:T:",
	       "color? block-size: format: hide: ignore: indicator-style: quoting-style: sort: time: "
	       "time-style: width: hyperlink?"),
	{"mapfile", "d:n:O:s:tu:C:c:", "", OPEN, OWN, NOTHING, 0, sb_model_assigns},
	{"mawk", "F:v:f:", "", WELL, 0, NOTHING, 0, sb_model_awk},
	READER("md5sum", "", ""),
	{"mkdir", "m:pvZ", "mode: parents=p verbose", WELL, 0, NOTHING, 0, sb_model_mkdir},
	{"mkfifo", "m:Z", "mode:", WELL, 0, SB_PREVIEW_CREATE, 0, NULL},
	{"mktemp", "duqp:t", "directory=d dry-run=u quiet tmpdir?=p suffix:=t", WELL, 0, NOTHING, 0,
	 sb_model_mktemp},
	{"mv", "bfinS:t:TuvZ",
	 "backup?=b force=f interactive=i no-clobber=n strip-trailing-slashes suffix:=S "
	 "target-directory:=t no-target-directory=T update?=u verbose debug",
	 WELL, 0, NOTHING, 0, sb_model_move},
	{"nice", "n:0123456789", "adjustment:", OPEN, FIRST, NOTHING, 0, sb_model_wrap},
	READER("nl", "b:d:f:h:i:l:n:s:v:w:", ""),
	{"nohup", "", "", OPEN, FIRST, NOTHING, 0, sb_model_nohup},
	QUIET("nproc"),
	QUIET("numfmt"),
	READER("od", "A:j:N:S:t:w::", ""),
	READER("paste", "d:", "delimiters:"),
	{"patch", "bcd:D:eEfF:g:i:lnNo:p:r:RstTuvVY:z:B:Z",
	 "batch directory:=d dry-run=N forward input:=i "
	 "output:=o reject-file:=r reverse silent quiet strip:=p backup force",
	 OPEN, 0, NOTHING, 0, sb_model_patch},
	{"perl", "acde:E:fF:hi::I:l::mM:npsStTuUvVwWx0::", "", OPEN, FIRST, NOTHING, 0,
	 sb_model_perl},
	QUIET("pgrep"),
	QUIET("pidof"),
	ONLINE("ping"),
	{"popd", "", "", WELL, OWN | RAW, NOTHING, 0, sb_model_cd},
	{"printenv", "", "", OPEN, RAW, NOTHING, 0, NULL},
	{"printf", "", "", WELL, OWN | RAW, NOTHING, 0, sb_model_printf},
	QUIET("ps"),
	QUIET("pstree"),
	{"pushd", "n", "", WELL, OWN | RAW, NOTHING, 0, sb_model_cd},
	QUIET_OWN("pwd"),
	{"read", "a:d:eEi:n:N:p:rst:u:", "", OPEN, OWN, NOTHING, 0, sb_model_assigns},
	{"readarray", "d:n:O:s:tu:C:c:", "", OPEN, OWN, NOTHING, 0, sb_model_assigns},
	READER("readlink", "", ""),
	{"readonly", "aAfp", "", WELL, OWN, NOTHING, 0, sb_model_declare},
	READER("realpath", "", "relative-to: relative-base:"),
	{"return", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_leave},
	READER("rev", "", ""),
	{"rm", "dfiIrRv",
	 "force=f interactive?=i one-file-system no-preserve-root preserve-root? recursive=r dir "
	 "verbose",
	 WELL, 0, NOTHING, 0, sb_model_remove},
	{"rmdir", "pv", "ignore-fail-on-non-empty=i parents=p verbose", WELL, 0, NOTHING, 0,
	 sb_model_mkdir},
	{"rsync", "avzrlptgoDnuHAXhPqcWxCISRLkKe:f:",
	 "archive verbose compress recursive delete=D delete-after=D "
	 "delete-before=D delete-during=D delete-excluded=D dry-run=n exclude: include: exclude-from: rsh:=e "
	 "remove-source-files=R progress stats human-readable partial links perms times checksum "
	 "update quiet info: filter:=f existing ignore-existing size-only no-perms no-owner no-group",
	 WELL, 0, NOTHING, 0, sb_model_rsync},
	ONLINE("scp"),
	READER("sdiff", "o:", ""),
	{"sed", "Ee:f:i::l:nrsuz",
	 "expression:=e file:=f in-place?=i line-length:=l quiet=n silent=n posix "
	 "regexp-extended=r separate unbuffered null-data debug sandbox follow-symlinks",
	 WELL, 0, NOTHING, 0, sb_model_sed},
	QUIET("seq"),
	{"set", "", "", WELL, OWN | RAW, NOTHING, 0, sb_model_set},
	{"setsid", "cfw", "ctty fork wait", OPEN, FIRST, NOTHING, 0, sb_model_wrap},
	ONLINE("sftp"),
	{"sh", SHELL_LETTERS, "", OPEN, FIRST, NOTHING, 0, sb_model_shell},
	READER("sha1sum", "", ""),
	READER("sha224sum", "", ""),
	READER("sha256sum", "", ""),
	READER("sha384sum", "", ""),
	READER("sha512sum", "", ""),
	{"shift", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_shift},
	{"shopt", "", "", OPEN, OWN | RAW, NOTHING, 0, NULL},
	{"shred", "fn:s:vxz", "force iterations: random-source: size: verbose exact zero", WELL, 0,
	 SB_PREVIEW_MODIFY, 0, NULL},
	QUIET("sleep"),
	{"sort", "bdfgiMhnrRVcCmo:sS:t:T:uzk:",
	 "output:=o key: field-separator: buffer-size: temporary-directory: "
	 "unique numeric-sort reverse ignore-case stable version-sort human-numeric-sort check? merge "
	 "zero-terminated files0-from:=F compress-program:=X parallel: random-sort",
	 WELL, 0, NOTHING, 0, sb_model_sort},
	{"source", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_source},
	{"split", "a:b:C:d::ex::l:n:t:u",
	 "suffix-length: bytes: line-bytes: numeric-suffixes? hex-suffixes? lines: "
	 "number: separator: additional-suffix: filter:=C verbose elide-empty-files",
	 WELL, 0, NOTHING, 0, sb_model_split},
	ONLINE("ssh"),
	READER("stat", "c:", "format: printf:"),
	{"stdbuf", "i:o:e:", "input: error: output:", OPEN, FIRST, NOTHING, 0, sb_model_wrap},
	{"strace", "o:e:p:s:u:E:O:S:P:I:a:b:fFtTrvxyciqCDzZkn", "", OPEN, FIRST, NOTHING, 0,
	 sb_model_wrap},
	READER("strings", "n:t:e:", ""),
	{"sudo", "AbEeHKkliPnSsVvC:g:h:p:U:u:r:t:T:D:R:",
	 "user: group: login=i preserve-env? non-interactive "
	 "set-home shell=s edit=e stdin",
	 OPEN, FIRST, NOTHING, 0, sb_model_sudo},
	QUIET_OWN("suspend"),
	QUIET("sync"),
	READER("tac", "s:", "separator:"),
	READER("tail", "n:c:s:", "lines: bytes: pid: sleep-interval: follow?"),
	{"tar", "xctruAdf:C:zjJvkpPmoOhWwT:X:b:I:K:N:V:g:F:L:ailSs",
	 "extract=x get=x create=c list=t append=r update=u concatenate=A diff=d file:=f directory:=C gzip=z bzip2=j "
	 "xz=J zstd verbose=v keep-old-files=k preserve-permissions=p touch=m to-stdout=O exclude: "
	 "exclude-from:=X files-from:=T strip-components: transform:=Z to-command:=Z use-compress-program:=Z "
	 "checkpoint-action:=Z remove-files=D overwrite wildcards no-same-owner no-same-permissions "
	 "one-top-level?=Z auto-compress=a owner: group: mtime: sort: mode: numeric-owner same-owner "
	 "exclude-vcs dereference=h null",
	 WELL, 0, NOTHING, 0, sb_model_tar},
	{"taskset", "apc", "all-tasks pid=p", OPEN, FIRST, NOTHING, 1, sb_model_wrap},
	{"tee", "aip", "append=a ignore-interrupts output-error?", WELL, 0, NOTHING, 0,
	 sb_model_tee},
	{"test", "", "", OPEN, OWN | RAW, NOTHING, 0, NULL},
	{"time", "af:o:pqvV", "append format: output:=o portability quiet verbose", OPEN, FIRST,
	 NOTHING, 0, sb_model_wrap},
	{"timeout", "k:s:v", "kill-after: signal: preserve-status foreground verbose", OPEN, FIRST,
	 NOTHING, 1, sb_model_wrap},
	QUIET_OWN("times"),
	{"touch", "acd:fhmr:t:", "date: reference:=r time: no-create=c no-dereference", WELL, 0,
	 NOTHING, 0, sb_model_touch},
	QUIET("tput"),
	QUIET("tr"),
	{"trap", "lpP", "", WELL, OWN, NOTHING, 0, sb_model_trap},
	{"true", "", "", TRUE_, OWN | RAW, NOTHING, 0, NULL},
	{"truncate", "cor:s:", "no-create=c io-blocks reference:=r size:=s", WELL, 0, NOTHING, 0,
	 sb_model_touch},
	QUIET("tty"),
	QUIET_OWN("type"),
	{"typeset", "aAfFgiIlnrtuxp", "", WELL, OWN, NOTHING, 0, sb_model_declare},
	QUIET_OWN("ulimit"),
	QUIET_OWN("umask"),
	{"unalias", "", "", OPEN, OWN | RAW, NOTHING, 0, sb_model_lose},
	QUIET("uname"),
	READER("unexpand", "t:", "tabs:"),
	{"uniq", "cdDf:is:uw:z",
	 "count repeated all-repeated? skip-fields: group? ignore-case skip-chars: unique "
	 "zero-terminated check-chars:",
	 WELL, 0, NOTHING, 0, sb_model_uniq},
	{"unlink", "", "", WELL, 0, SB_PREVIEW_DELETE, 0, NULL},
	{"unset", "fvn", "", WELL, OWN, NOTHING, 0, sb_model_unset},
	{"unxz", ZIP_LETTERS, ZIP_WORDS, WELL, 0, NOTHING, 0, sb_model_gzip},
	{"unzip", "d:lptvZjnoqaAbCLuVxf", "", WELL, 0, NOTHING, 0, sb_model_unzip},
	QUIET("uptime"),
	QUIET("users"),
	{"wait", "fnp:", "", OPEN, OWN | RAW, NOTHING, 0, NULL},
	READER("wc", "", "files0-from:"),
	{"wget", "O:P:o:a:i:qcNrlnpkv:U:t:T:SxEHLmbw:",
	 "output-document:=O directory-prefix:=P output-file:=o "
	 "append-output:=a input-file:=i quiet continue timestamping recursive=r no-check-certificate header: "
	 "user-agent: tries: timeout: spider=S show-progress mirror=r no-verbose progress: "
	 "method: post-data: max-redirect:",
	 WELL, 0, NOTHING, 0, sb_model_wget},
	QUIET("which"),
	QUIET("who"),
	QUIET("whoami"),
	{"xargs", "0a:d:e::E:i::I:l::L:n:oP:prs:tx",
	 "null arg-file:=a delimiter: eof? replace?=i max-lines? "
	 "max-args: max-procs: no-run-if-empty=r verbose exit max-chars: interactive open-tty",
	 OPEN, FIRST, NOTHING, 0, sb_model_xargs},
	{"xxd", "abc:EeghIl:n:o:pR:rs:uiv", "", WELL, 0, NOTHING, 0, sb_model_uniq},
	{"xz", ZIP_LETTERS "Te", ZIP_WORDS, WELL, 0, NOTHING, 0, sb_model_gzip},
	QUIET("yes"),
	ONLINE("yum"),
	READER("zcat", "", ""),
	{"zip", "0123456789jmqruvyX@dfFlxi", "", WELL, 0, NOTHING, 0, sb_model_zip},
	{"zstd", "123456789cdfklo:qrtvT:", ZIP_WORDS " output-dir-flat:=o", WELL, 0, NOTHING, 0,
	 sb_model_gzip},
};

#define COUNT (sizeof models / sizeof models[0])

const struct sb_model *sb_models_row(size_t i)
{
	return i < COUNT ? &models[i] : NULL;
}

const struct sb_model *sb_models_find(const char *name)
{
	size_t low = 0, high = COUNT;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, models[middle].name);

		if (!order)
			return &models[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
