# Sourced by an interactive fish that sandbash starts, after the user's own files.
if functions -q fish_prompt; and not functions -q __sandbash_fish_prompt
	functions -c fish_prompt __sandbash_fish_prompt

	function __sandbash_status
		return $argv[1]
	end

	# the user's prompt may show $status, so it is given back after the mark
	function fish_prompt
		set -l last $status
		printf '(sandbash) '
		__sandbash_status $last
		__sandbash_fish_prompt
	end
end

# Where the history cannot be written, fish would say so after every command.
set -l __sandbash_data ~/.local/share
set -q XDG_DATA_HOME; and set __sandbash_data $XDG_DATA_HOME
if not test -w $__sandbash_data/fish
	set -g fish_history ''
end
