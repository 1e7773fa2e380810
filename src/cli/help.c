/*
 * help.c - --help, --version and the completions, all from the option table.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "enforce/confine.h"

/* The names of a group's options alone, in as many lines of 80 columns as they need. */
static void list_names(struct sb_buf *out, enum sb_group group)
{
	size_t column = strlen(sb_group_title(group)) + 1;

	for (size_t i = 0; i < sb_option_count; i++) {
		size_t width = strlen(sb_options[i].name) + 3;

		if (sb_options[i].group != group)
			continue;
		if (column + width > 80) {
			sb_buf_putc(out, '\n');
			column = 0;
		}
		sb_buf_printf(out, " --%s", sb_options[i].name);
		column += width;
	}
}

/* Two options to a row: all of it on a screen of 24 lines and 80 columns. */
int sb_cli_help(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);

	(void)line;
	sb_buf_puts(&out,
		    "Usage: sandbash [OPTION]... [COMMAND [ARGUMENT]...]   (--help: this text)\n");
	for (int group = 0; group < SB_GROUP_COUNT; group++) {
		size_t column = 0;
		int width = 0;

		sb_buf_printf(&out, "%s:", sb_group_title((enum sb_group)group));
		if (group == SB_GROUP_LOG || group == SB_GROUP_MORE)
			list_names(&out, (enum sb_group)group);
		sb_buf_putc(&out, '\n');
		for (size_t i = 0; i < sb_option_count; i++) {
			const struct sb_option *option = &sb_options[i];
			char left[40];

			if (option->group != (enum sb_group)group || !option->brief)
				continue;
			snprintf(left, sizeof left, "--%s%s%s", option->name,
				 option->value ? "=" : "", option->value ? option->value : "");
			/* the right one of a pair is what fills the left one up */
			if (column % 2)
				sb_buf_printf(&out, "%*s", 21 - width, "");
			sb_buf_printf(&out, " %-18s %s", left, option->brief);
			width = (int)strlen(option->brief);
			if (column++ % 2)
				sb_buf_putc(&out, '\n');
		}
		if (column % 2)
			sb_buf_putc(&out, '\n');
	}
	return sb_print(&out);
}

int sb_cli_version(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_layers layers;
	struct sb_error err;
	char found[200];

	(void)line;
	if (sb_layers_probe(false, &layers, &err) != SB_OK)
		return sb_report(&err);
	sb_layers_describe(&layers, found, sizeof found);
	sb_buf_printf(&out, "sandbash %s\nlayers here: %s\n", SB_VERSION, found);
	if (!layers.mounts)
		sb_buf_printf(&out, "no mount namespace: %s\n", layers.no_mounts);
	return sb_print(&out);
}

/* One whose value may be left out is completed without. */
static bool needs_value(const struct sb_option *option)
{
	return option->value && !option->optional;
}

/* How each shell is told what to offer as a value that the table has no choices for. */
struct offers {
	const char *files, *directories, *nothing;
};

static const char *offer(const struct sb_option *option, const struct offers *offers)
{
	if (strcmp(option->value, "DIR") == 0)
		return offers->directories;
	if (strcmp(option->value, "PATH") == 0 || strcmp(option->value, "FILE") == 0 ||
	    strcmp(option->value, "PROGRAM") == 0)
		return offers->files;
	return offers->nothing;
}

static void complete_bash(struct sb_buf *out)
{
	static const struct offers offers = {"-f", "-d", "-W ''"};

	sb_buf_puts(out,
		    "# bash completion for sandbash\n"
		    "_sandbash() {\n"
		    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i\n"
		    "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		    "\t\tcase ${COMP_WORDS[i]} in\n"
		    "\t\t--) ((i++)); break ;;\n"
		    "\t\t=) ((i++)) ;;\n"
		    "\t\t--*) ;;\n"
		    "\t\t*) break ;;\n"
		    "\t\tesac\n"
		    "\tdone\n"
		    "\tif ((i < COMP_CWORD)); then\n"
		    "\t\tif declare -F _command_offset >/dev/null; then _command_offset \"$i\"\n"
		    "\t\telse mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); fi\n"
		    "\t\treturn\n"
		    "\tfi\n"
		    "\t[[ $cur == = ]] && cur= || { [[ $prev == = ]] && "
		    "prev=${COMP_WORDS[COMP_CWORD-2]}; }\n"
		    "\tcase $prev in\n");
	for (size_t i = 0; i < sb_option_count; i++) {
		const struct sb_option *option = &sb_options[i];

		if (!option->help || !option->value || option->optional)
			continue;
		sb_buf_printf(out, "\t--%s) mapfile -t COMPREPLY < <(compgen ", option->name);
		if (option->choices)
			sb_buf_printf(out, "-W '%s'", option->choices);
		else
			sb_buf_puts(out, offer(option, &offers));
		sb_buf_puts(out, " -- \"$cur\"); return ;;\n");
	}
	sb_buf_puts(out, "\tesac\n"
			 "\tif [[ $cur == -* ]]; then\n"
			 "\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (size_t i = 0; i < sb_option_count; i++)
		if (sb_options[i].help)
			sb_buf_printf(out, "--%s%s ", sb_options[i].name,
				      needs_value(&sb_options[i]) ? "=" : "");
	sb_buf_puts(out, "' -- \"$cur\")\n"
			 "\t\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
			 "\telse\n"
			 "\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
			 "\tfi\n"
			 "}\n"
			 "complete -o filenames -F _sandbash sandbash\n");
}

static void complete_zsh(struct sb_buf *out)
{
	static const struct offers offers = {":path:_files", ":directory:_files -/", ":value: "};

	sb_buf_puts(out, "#compdef sandbash\n_arguments -S \\\n");
	for (size_t i = 0; i < sb_option_count; i++) {
		const struct sb_option *option = &sb_options[i];

		if (!option->help)
			continue;
		sb_buf_printf(out, "  '*--%s%s[", option->name, needs_value(option) ? "=" : "");
		for (const char *c = option->help; *c; c++) {
			if (*c == '\'')
				sb_buf_puts(out, "'\\''");
			else if (*c == '[' || *c == ']' || *c == ':')
				sb_buf_printf(out, "\\%c", *c);
			else
				sb_buf_putc(out, *c);
		}
		sb_buf_putc(out, ']');
		if (option->choices)
			sb_buf_printf(out, ":value:(%s)", option->choices);
		else if (needs_value(option))
			sb_buf_puts(out, offer(option, &offers));
		sb_buf_puts(out, "' \\\n");
	}
	sb_buf_puts(out, "  '(-)1:command:_command_names -e' \\\n  '*::arguments:_normal'\n");
}

static void complete_fish(struct sb_buf *out)
{
	static const struct offers offers = {" -r -F", " -x -a '(__fish_complete_directories)'",
					     " -x"};

	sb_buf_puts(out, "# fish completion for sandbash\n"
			 "complete -c sandbash -x -a '(__fish_complete_subcommand)'\n");
	for (size_t i = 0; i < sb_option_count; i++) {
		const struct sb_option *option = &sb_options[i];

		if (!option->help)
			continue;
		sb_buf_printf(out, "complete -c sandbash -l %s", option->name);
		if (option->choices)
			sb_buf_printf(out, " -x -a '%s'", option->choices);
		else if (needs_value(option))
			sb_buf_puts(out, offer(option, &offers));
		sb_buf_puts(out, " -d \"");
		for (const char *c = option->help; *c; c++) {
			if (strchr("\"$\\", *c))
				sb_buf_putc(out, '\\');
			sb_buf_putc(out, *c);
		}
		sb_buf_puts(out, "\"\n");
	}
}

int sb_cli_completion(const struct sb_command_line *line)
{
	static const struct {
		const char *shell;
		void (*write)(struct sb_buf *out);
	} shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);

	for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
		if (strcmp(line->action_value, shells[i].shell) == 0) {
			shells[i].write(&out);
			return sb_print(&out);
		}
	}
	return sb_end_with(SB_E_USAGE, NULL, "no completion for '%s'", line->action_value);
}
