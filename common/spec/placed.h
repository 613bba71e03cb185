/* SPDX-License-Identifier: Apache-2.0 */
/* placed.h - the nodes of a case in the order of their ranks, as its case file has them:
 * [["gpu-[08-71]", 8], ["login", 2]]
 *
 * Every node of a case gets the whole list. Names that count up, of nodes with as many
 * ranks, are one entry, or the lists would grow with the square of their number. */
#ifndef RINGBENCH_COMMON_SPEC_PLACED_H
#define RINGBENCH_COMMON_SPEC_PLACED_H

#include <jansson.h>
#include <stddef.h>

#define PLACED_NAME_MAX 512

struct placed {
    json_t *list; /* not owned */
    /* The names of the last entry: prefix, then a number, at least so many digits wide.
     */
    char name[PLACED_NAME_MAX];
    size_t prefix;
    int width, ranks;
    long first, last;
};

/* To a list that is empty. */
void placed_init(struct placed *placed, json_t *list);
int placed_add(struct placed *placed, const char *name, int ranks);

/* Read the entry: fills *out but for its list. -1: it is none. */
int placed_read(const json_t *entry, struct placed *out);

/* How many nodes it stands for, and the name of each. */
long placed_count(const struct placed *entry);
void placed_name(const struct placed *entry, long i, char *out, size_t size);

#endif
