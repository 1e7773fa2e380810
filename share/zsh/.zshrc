_sandbash_go_back
_sandbash_source .zshrc
if [[ -o login ]]; then
	_sandbash_go_on
else
	_sandbash_finish
fi
