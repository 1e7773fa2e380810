#include "files/seen.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "zones/rules.h"

struct sb_files_options sb_files_for(const struct sb_home *home, sb_files_consent consent,
				     sb_files_audit audit, void *context)
{
	return (struct sb_files_options){.size = sizeof(struct sb_files_options),
					 .consent = consent,
					 .audit = audit,
					 .audit_allowed = audit != NULL,
					 .context = context,
					 .home = home->home,
					 .git_settings = (const char *const *)home->git_settings,
					 .obeyed = (const char *const *)home->obeyed,
					 .config_home = home->xdg_config,
					 .data_home = home->xdg_data,
					 .cache_home = home->xdg_cache,
					 .state_home = home->xdg_state,
					 .account_home = sb_home_of_account(home)};
}

int sb_zones_see(const struct sb_zones *zones, struct sb_files_backend *inner,
		 struct sb_files_backend **out, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_mapped *all = calloc(zones->count + 1, sizeof *all);
	SB_AUTO_BUF struct sb_buf says =
		SB_BUF(1024 * (zones->count + 1)); /* a name has 64 bytes */
	int status;

	if (!all)
		return sb_no_memory(err);
	for (size_t i = 0; i < zones->count; i++) {
		sb_zone_says(&zones->all[i], &says);
		sb_buf_putc(&says, '\0');
	}
	if (sb_buf_failed(&says))
		return sb_no_memory(err);
	for (size_t i = 0, at = 0; i < zones->count; i++, at += strlen(says.data + at) + 1)
		all[i] = (struct sb_mapped){.name = zones->all[i].name,
					    .path = zones->all[i].path,
					    .access = sb_zone_access(&zones->all[i]),
					    .read_only = zones->all[i].mode == SB_ZONE_RO,
					    .says = says.data + at};
	status = sb_files_mapped_new(inner, all, zones->count, out);
	if (status == -ESTALE)
		return sb_fail(err, SB_E_REFUSED, 0,
			       "a link has taken the place of a directory that workers share");
	return status < 0 ? sb_fail(err, SB_E_SYSTEM, -status,
				    "cannot use the directories of a worker")
			  : SB_OK;
}

/* The one whose real path text begins with, with a slash or no further name behind it. */
static const struct sb_zone *zone_at(const struct sb_zones *zones, const char *text)
{
	for (size_t i = 0; *text == '/' && i < zones->count; i++) {
		size_t length = strlen(zones->all[i].path);

		if (strncmp(text, zones->all[i].path, length) == 0 &&
		    !(text[length] && strchr("-_.", text[length])) &&
		    !isalnum((unsigned char)text[length]))
			return &zones->all[i];
	}
	return NULL;
}

void sb_zones_reword(const struct sb_zones *zones, const char *text, struct sb_buf *out)
{
	while (*text) {
		const struct sb_zone *zone = zone_at(zones, text);

		if (zone) {
			sb_buf_printf(out, "/%s", zone->name);
			text += strlen(zone->path);
		} else {
			sb_buf_putc(out, *text++);
		}
	}
}
