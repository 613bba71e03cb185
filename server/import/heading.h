/* SPDX-License-Identifier: Apache-2.0 */
/* heading.h - lines between the tables of a file that describe the next table */
#ifndef RINGBENCH_SERVER_IMPORT_HEADING_H
#define RINGBENCH_SERVER_IMPORT_HEADING_H

#include <stdbool.h>

#define HEADING_SIZE 65

/* The lines since the last table. A zeroed struct is empty. */
struct heading {
    char settings[HEADING_SIZE]; /* "NCCL_ALGO=Ring NCCL_PROTO=LL" */
    char title[HEADING_SIZE];    /* "Ring, 2 nodes" for "=== Ring, 2 nodes ===" */
    /* the title is not decorated, such as "Loaded modules:", so it may be any output */
    bool is_title_weak;
    char last[HEADING_SIZE]; /* the last line, if it is short */
};

/* Add a line that belongs neither to a table nor to NCCL's log. */
void heading_line(struct heading *heading, const char *line);

/* The settings if there are any, else the title, else the last line; "" for none. A
 * heading that contains only a repeat's number or a time counts as none. is_weak: the
 * text may be unrelated output. key: the text without numbers of repeats and times. */
const char *heading_text(const struct heading *heading, char key[HEADING_SIZE],
                         bool *is_weak);

#endif
