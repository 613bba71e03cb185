/* SPDX-License-Identifier: Apache-2.0 */
/* heading.h - collects the lines above a table that describe the table */
#ifndef RINGBENCH_SERVER_IMPORT_HEADING_H
#define RINGBENCH_SERVER_IMPORT_HEADING_H

#include <stdbool.h>

#define HEADING_SIZE 65

/* The lines since the last table. A zeroed struct is empty. */
struct heading {
    char settings[HEADING_SIZE]; /* "NCCL_ALGO=Ring NCCL_PROTO=LL" */
    char title[HEADING_SIZE];    /* "Ring, 2 nodes" for "=== Ring, 2 nodes ===" */
    /* The title is plain, as in "Loaded modules:", so it may be unrelated output. */
    bool is_title_weak;
    char last[HEADING_SIZE]; /* the last line, if it is short */
};

/* Add a line that belongs neither to a table nor to NCCL's log. */
void heading_line(struct heading *heading, const char *line);

/* Return the settings if there are any, else the title, else the last line, or "" if
 * there is none. A text that contains only a repeat's number or a time is ignored.
 * *is_weak is set to true if the text may be unrelated output. `key` gets the text
 * without times and repeat numbers. */
const char *heading_text(const struct heading *heading, char key[HEADING_SIZE],
                         bool *is_weak);

#endif
