/*
 * index_links.h - links of a work tree that git knows, at any depth.
 *
 * Nobody can look through all of a large project when a run begins, but its index names every link that
 * came with a clone or a checkout, one after the other.  That costs some 30 ns an entry.
 */
#ifndef SB_GUARD_INDEX_LINKS_H
#define SB_GUARD_INDEX_LINKS_H

#define SB_INDEX_LINKS_BYTES                                                                       \
	(4 * 1024 * 1024) /* some 40000 entries; a longer one is not looked at */

/*
 * Call visit with the name of each, seen from top (canonical), in their order, until it returns an error, which
 * is returned.  None where top is no checkout.  SB_OK, SB_E_NOMEM.
 */
int sb_index_links(const char *top, int (*visit)(void *context, const char *name), void *context);

#endif
