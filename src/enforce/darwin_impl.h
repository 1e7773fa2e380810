/* darwin_impl.h - between the files that make a profile. */
#ifndef SB_ENFORCE_DARWIN_IMPL_H
#define SB_ENFORCE_DARWIN_IMPL_H

#include "enforce/darwin_profile.h"
#include "path/pattern.h"

/* --- darwin_regex.c ---------------------------------------------------------------------------
 * Of regular expressions only what every dialect knows: bytes, [x-y], [^/], groups, | * + ? ^ $.
 */

void sb_regex_bytes(struct sb_buf *out, const char *bytes, size_t length);

/* A name of the guard's table, in whatever case and spelling a folding file system takes for it. */
void sb_regex_folded(struct sb_buf *out, const char *name, size_t length);

/* Any name that is not this one, in no case. */
void sb_regex_other_name(struct sb_buf *out, const char *name, size_t length);

/* The pattern without what is beneath; folded: in whatever case.  SB_E_UNSUPPORTED. */
int sb_regex_pattern(struct sb_buf *out, const struct sb_pattern *pattern, bool folded,
		     struct sb_error *err);

/* --- darwin_text.c: writing the profile ---------------------------------------------------------- */

/* A string of Scheme. */
void sb_seatbelt_string(struct sb_seatbelt *seatbelt, const char *text);

/* (param "P1"), whose value is a copy of value. */
void sb_seatbelt_parameter(struct sb_seatbelt *seatbelt, char kind, const char *value);

/* What the pattern covers, as a filter; and what it covers in whatever case. */
int sb_seatbelt_filter(struct sb_seatbelt *seatbelt, const struct sb_pattern *pattern,
		       struct sb_error *err);
int sb_seatbelt_folded(struct sb_seatbelt *seatbelt, const struct sb_pattern *pattern,
		       struct sb_error *err);

/* (subpath P) and (literal P) of a path in its canonical form. */
void sb_seatbelt_path(struct sb_seatbelt *seatbelt, const char *filter, const char *path);

/* Can the two mean the same path? */
bool sb_seatbelt_overlap(const struct sb_pattern *a, const struct sb_pattern *b);

/* The operations of a profile for those of a policy, one bit for each enum sb_op. */
void sb_seatbelt_operations(struct sb_seatbelt *seatbelt, unsigned ops);

/* What changes a file and is not connecting: of names that are guarded. */
#define SB_SEATBELT_MODIFY                                                                         \
	"file-write-data file-write-mode file-write-owner file-write-flags file-write-times "      \
	"file-write-xattr file-write-acl file-write-setugid file-link"
#define SB_SEATBELT_CREATE "file-write-create network-bind"
#define SB_SEATBELT_DELETE "file-write-unlink"

/* --- the parts ------------------------------------------------------------------------------------ */

/* darwin_rules.c */
int sb_seatbelt_rules(struct sb_seatbelt *seatbelt, const struct sb_policy *policy,
		      struct sb_error *err);

/* darwin_guard.c */
int sb_seatbelt_guard(struct sb_seatbelt *seatbelt, const struct sb_policy *policy,
		      struct sb_error *err);

#endif
