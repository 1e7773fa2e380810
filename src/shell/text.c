/* text.c - a word that is a script: of sh -c, eval and trap. */
#include <string.h>

#include "shell/models.h"

enum sb_ending sb_text_run(struct sb_shell *shell, const struct sb_field *text)
{
	enum sb_ending ending = SB_ENDS_OPEN;
	struct sb_syntax syntax;

	if (shell->depth >= SB_DEPTH_MOST || text->known != SB_KNOWN) {
		sb_command_unknown(shell, text);
		return SB_ENDS_OPEN;
	}
	sb_syntax_read(shell->arena, text->text, strlen(text->text), &syntax);
	shell->depth++;
	if (syntax.problem) {
		sb_command_unknown(shell,
				   &(struct sb_field){.text = text->text, .word = text->word});
		shell->state.maybe = true;
	}
	ending = shell->run(shell, syntax.commands);
	shell->depth--;
	return ending;
}
