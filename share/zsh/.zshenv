# Read by a zsh that sandbash starts, through ZDOTDIR.  Give ZDOTDIR back at once, so
# that zsh goes on with the user's own files, and mark the prompt before each line.
if [[ -n ${SANDBASH_ZDOTDIR-} ]]; then
	export ZDOTDIR=$SANDBASH_ZDOTDIR
else
	unset ZDOTDIR
fi
unset SANDBASH_ZDOTDIR

_sandbash_mark() {
	[[ $PROMPT == *'(sandbash)'* ]] || PROMPT="(sandbash) $PROMPT"
}
typeset -ga precmd_functions
precmd_functions+=(_sandbash_mark)

if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
	source "${ZDOTDIR:-$HOME}/.zshenv"
fi
