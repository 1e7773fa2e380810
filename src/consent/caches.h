/*
 * caches.h - where package managers and build tools keep what they have downloaded.
 *
 * They write beneath the home directory, outside every project, in many places at once.  A
 * refusal there is about one directory, and has one flag that makes the tool work.
 */
#ifndef SB_CONSENT_CACHES_H
#define SB_CONSENT_CACHES_H

/*
 * Whose cache holds path (canonical)?  "npm's cache", static; NULL: nobody's we know.
 * *out_directory, relative to home and static, is what has to be writable.
 */
const char *sb_cache_of(const char *home, const char *path, const char **out_directory);

#endif
