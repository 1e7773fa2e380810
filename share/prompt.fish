# Sourced by an interactive fish that sandbash starts, after the user's own files.
if functions -q fish_prompt; and not functions -q __sandbash_fish_prompt
	functions -c fish_prompt __sandbash_fish_prompt
	function fish_prompt
		printf '(sandbash) '
		__sandbash_fish_prompt
	end
end
