/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - matching a line against a form, and the pieces that it captures */
#ifndef RINGBENCH_COMMON_NCCLOG_PATTERN_H
#define RINGBENCH_COMMON_NCCLOG_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_PIECES_MAX 10

struct piece {
    const char *text; /* in the line; not NUL-terminated */
    size_t len;
    long number; /* value of '#' */
};

struct pieces {
    struct piece at[PATTERN_PIECES_MAX];
    size_t n;
};

/* Return whether the whole text matches the form. In a form '#' is an integer, '$' a word
 * up to a blank or the form's next character, '*' the shortest text that matches. A blank
 * matches any number of blanks, including none. Each '#', '$' and '*' captures a piece.
 * */
bool pattern_fits(const char *pattern, const char *text, struct pieces *pieces);

/* Copy a piece as text, cut to size. */
void piece_copy(const struct piece *piece, char *out, size_t size);

#endif
