/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - a line held against a form, and what stands in its places */
#ifndef RINGBENCH_COMMON_NCCLOG_PATTERN_H
#define RINGBENCH_COMMON_NCCLOG_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_PIECES_MAX 10

struct piece {
    const char *text; /* of the line; not terminated */
    size_t len;
    long number; /* of '#' */
};

struct pieces {
    struct piece at[PATTERN_PIECES_MAX];
    size_t n;
};

/* Whether the whole text is of the form. In a form '#' is an integer, '$' a word that
 * ends before a blank or what the form has next, '*' any text, as little as will do, and
 * a blank any number of blanks, none too; each of the first three becomes a piece. */
bool pattern_fits(const char *pattern, const char *text, struct pieces *pieces);

/* A piece as a text, cut to size. */
void piece_copy(const struct piece *piece, char *out, size_t size);

#endif
