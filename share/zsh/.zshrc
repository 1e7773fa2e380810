_sandbash_go_back
_sandbash_source .zshrc
# What is typed in a sandbox stays there: a history outside would offer it again where nothing
# confines it, and writing it asks.
[[ ${HISTFILE-} == ${SANDBASH_PROJECT-/}/* ]] || unset HISTFILE
if [[ -o login ]]; then
	_sandbash_go_on
else
	_sandbash_finish
fi
