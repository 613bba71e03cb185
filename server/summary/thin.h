/* thin.h - fewer points of a line that still show what was remarkable. Pure. */
#ifndef RINGBENCH_SERVER_SUMMARY_THIN_H
#define RINGBENCH_SERVER_SUMMARY_THIN_H

#include <stdbool.h>
#include <stddef.h>

#define THIN_LEAST 4 /* points that a thinned line keeps at least */

/* What a line's points are chosen by: `value` of point i, and how much it must not be
 * lost (0: no more than others; only the greatest of a stretch is sure to be kept). */
struct thin_line {
    double (*value)(const void *line, size_t i);
    double (*alarm)(const void *line, size_t i); /* or NULL */
    const void *line;
    size_t n;
};

/* Choose at most `most` (>= THIN_LEAST) points: the first, the last, and of each stretch
 * between them the least and the greatest, or in place of the least the one with the
 * greatest alarm. kept: room for `most` indexes; they are rising. Returns how many. */
size_t thin_choose(const struct thin_line *line, size_t most, size_t *kept);

/* The share of `budget` points that a line of n has among lines with `total` in all;
 * every line gets THIN_LEAST, or n if that is less. lines * THIN_LEAST <= budget. */
size_t thin_share(size_t n, size_t total, size_t lines, size_t budget);

#endif
