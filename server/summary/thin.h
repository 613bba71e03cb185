/* thin.h - fewer points of a line that still show what was remarkable. Pure. */
#ifndef RINGBENCH_SERVER_SUMMARY_THIN_H
#define RINGBENCH_SERVER_SUMMARY_THIN_H

#include <stddef.h>

#define THIN_LEAST 4 /* points that a thinned line keeps at least */

/* Choose at most `most` (>= THIN_LEAST) of the points: the first, the last, and of each
 * stretch between them the least and the greatest value. alarms (or NULL): where a
 * stretch has one above 0, the point with its greatest replaces the least value. kept:
 * room for `most` indexes; they are rising. Returns how many. */
size_t thin_choose(const double *values, const double *alarms, size_t count, size_t most,
                   size_t *kept);

/* The share of `budget` points that a line of n has among lines with `total` in all;
 * every line gets THIN_LEAST, or n if that is less. lines * THIN_LEAST <= budget. */
size_t thin_share(size_t n, size_t total, size_t lines, size_t budget);

#endif
