/* SPDX-License-Identifier: Apache-2.0 */
/* heading.h - lines between the tables of a file that say what the next one is of */
#ifndef RINGBENCH_SERVER_IMPORT_HEADING_H
#define RINGBENCH_SERVER_IMPORT_HEADING_H

#include <stdbool.h>

#define HEADING_SIZE 65

/* What was read since the last table. Zeroed it is empty. */
struct heading {
    char settings[HEADING_SIZE]; /* "NCCL_ALGO=Ring NCCL_PROTO=LL" */
    char title[HEADING_SIZE];    /* "Ring, 2 nodes" of "=== Ring, 2 nodes ===" */
    bool is_title_weak;          /* not decorated: "Loaded modules:" may be any output */
    char last[HEADING_SIZE];     /* line, if it is short */
};

/* A line that is neither of a table nor of NCCL's log. */
void heading_line(struct heading *heading, const char *line);

/* Settings if there are any, else the title, else the last line; "" for none. A heading
 * that only numbers a repeat or tells the time is none. is_weak: the text may be just
 * some output. key: the text without numbers of repeats and times. */
const char *heading_text(const struct heading *heading, char key[HEADING_SIZE],
                         bool *is_weak);

#endif
