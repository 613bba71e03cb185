/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - matches a line against a form and captures its variable parts */
#ifndef RINGBENCH_COMMON_NCCLOG_PATTERN_H
#define RINGBENCH_COMMON_NCCLOG_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_PIECES_MAX 10

struct piece {
    const char *text; /* points into the line; not NUL-terminated */
    size_t len;
    long number; /* value of a piece that '#' captured */
};

struct pieces {
    struct piece at[PATTERN_PIECES_MAX];
    size_t n;
};

/* Return true if the whole text matches the form. In a form, '#' matches an integer, '$'
 * a word up to a blank or the form's next character, and '*' the shortest possible text.
 * A blank matches any number of blanks, including none. Each '#', '$' and '*' captures a
 * piece. */
bool pattern_fits(const char *pattern, const char *text, struct pieces *pieces);

/* Copy a piece as text, truncated to `size`. */
void piece_copy(const struct piece *piece, char *out, size_t size);

#endif
