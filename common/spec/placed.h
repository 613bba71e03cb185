/* SPDX-License-Identifier: Apache-2.0 */
/* placed.h - lists the nodes of a case in the order of their ranks, as in its case file:
 * [["gpu-[08-71]", 8], ["login", 2]]. Every node of a case receives the whole list.
 * Consecutive names with equal numbers of ranks form one entry; otherwise the total size
 * of the lists would grow with the square of the number of nodes. */
#ifndef RINGBENCH_COMMON_SPEC_PLACED_H
#define RINGBENCH_COMMON_SPEC_PLACED_H

#include <jansson.h>
#include <stddef.h>

#define PLACED_NAME_MAX 512

struct placed {
    json_t *list; /* borrowed */
    /* The name pattern of the last entry: a prefix, then a number with at least this many
     * digits. */
    char name[PLACED_NAME_MAX];
    size_t prefix;
    int width, ranks;
    long first, last;
};

/* Start with an empty list. */
void placed_init(struct placed *placed, json_t *list);
int placed_add(struct placed *placed, const char *name, int ranks);

/* Parse an entry into *out, whose member `list` becomes NULL. Return -1 if the entry is
 * invalid. */
int placed_read(const json_t *entry, struct placed *out);

/* placed_count() returns the number of nodes in an entry, and placed_name() writes the
 * name of its i-th node. */
long placed_count(const struct placed *entry);
void placed_name(const struct placed *entry, long i, char *out, size_t size);

#endif
