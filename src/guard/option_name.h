/*
 * option_name.h - names that programs take for an option when they are called with "*".
 *
 *     tar czf x.tgz *     --checkpoint-action=exec=sh x
 *     vim *               +!sh x      -Sx
 *     scp * host:         -oProxyCommand=sh x
 *
 * Those that carry what is run: a value, a command, a file.  Not -rf and --help, which run nothing, and not the
 * words that frameworks give to files of a site: -components, +page.svelte, +types.
 */
#ifndef SB_GUARD_OPTION_NAME_H
#define SB_GUARD_OPTION_NAME_H

#include <stdbool.h>
#include <stddef.h>

bool sb_is_option_name(const char *name, size_t length);

#endif
