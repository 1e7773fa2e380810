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

# What is typed in a sandbox stays there: a history outside would offer it again where nothing
# confines it, and writing it asks.
set -g fish_history ''
