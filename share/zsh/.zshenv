# zsh reads its start-up files from ZDOTDIR, which sandbash lets point here.  Each file
# here reads the user's own of the same name, with ZDOTDIR as it was; after the last one
# it stays so, and the prompt is marked.
typeset -g _sandbash_ours=$ZDOTDIR
if [[ -n ${SANDBASH_ZDOTDIR-} ]]; then
	export ZDOTDIR=$SANDBASH_ZDOTDIR
else
	unset ZDOTDIR
fi
unset SANDBASH_ZDOTDIR

# Read the user's file of this name as if we were not there.
_sandbash_source() {
	[[ -r ${ZDOTDIR:-$HOME}/$1 ]] && source "${ZDOTDIR:-$HOME}/$1"
	return 0
}

# Give zsh our directory for its next file; remember the user's, who may have changed it.
_sandbash_go_on() {
	typeset -g _sandbash_theirs=${ZDOTDIR-}
	ZDOTDIR=$_sandbash_ours
}

_sandbash_go_back() {
	if [[ -n $_sandbash_theirs ]]; then
		export ZDOTDIR=$_sandbash_theirs
	else
		unset ZDOTDIR
	fi
}

_sandbash_mark() {
	[[ $PROMPT == *'(sandbash)'* ]] || PROMPT="(sandbash) $PROMPT"
}

# After the user's last file: our hook is the last in line, since many prompts are built
# anew by another.  A history file that followed our directory goes home.
_sandbash_finish() {
	[[ ${HISTFILE-} == $_sandbash_ours/* ]] && HISTFILE=${ZDOTDIR:-$HOME}/${HISTFILE:t}
	typeset -ga precmd_functions
	precmd_functions+=(_sandbash_mark)
	unset _sandbash_ours _sandbash_theirs
	unfunction _sandbash_source _sandbash_go_on _sandbash_go_back _sandbash_finish
}

_sandbash_source .zshenv
[[ -o interactive ]] && _sandbash_go_on
