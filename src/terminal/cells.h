/*
 * cells.h - foreign text in the cells of a screen: how many it takes, and what of it fits.
 */
#ifndef SB_TERMINAL_CELLS_H
#define SB_TERMINAL_CELLS_H

#include <stdbool.h>
#include <stddef.h>

struct sb_buf;

/* Of one text: each byte of a name of 4 KiB may become \xNN. */
#define SB_CELLS_TEXT (32 * 1024)

/*
 * Length in bytes of the character at text, which was escaped before; its cells in *cells.  Beyond
 * ASCII terminals and fonts differ, and the command chooses names: a letter that takes more than we
 * think would push the end of a path off the screen.  So all of them count as wide.
 */
size_t sb_cells_character(const char *text, size_t length, size_t *cells);

/* How many cells a text takes; never fewer than it really does. */
size_t sb_cells(const char *text, size_t length);

/* How many bytes from the beginning fit into cells. */
size_t sb_cells_head(const char *text, size_t length, size_t cells);

/* Append text, which is escaped already, with its middle left out if need be: "/home/anna/[...]/authorized_keys". */
void sb_cells_fit(struct sb_buf *out, const char *text, size_t length, size_t cells);

/*
 * Foreign text as it is shown.  Escaped are, beside what steers a terminal, every letter that is not
 * ASCII where nobody knows what it would do, and marks that come in heaps: they cover other lines.
 */
void sb_cells_escape(struct sb_buf *out, const char *text, size_t length, bool ascii);

/* Both: append text escaped, in at most so many cells. */
void sb_cells_put(struct sb_buf *out, const char *text, size_t cells, bool ascii);

#endif
