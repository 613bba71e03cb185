/* SPDX-License-Identifier: Apache-2.0 */
/* thin.h - thins a line's points but keeps its extremes and alarms. The functions do no
 * I/O. */
#ifndef RINGBENCH_SERVER_SUMMARY_THIN_H
#define RINGBENCH_SERVER_SUMMARY_THIN_H

#include <stddef.h>

#define THIN_LEAST 4 /* fewest points in a thinned line */

/* Choose at most `most` (>= THIN_LEAST) points: the first, the last, and the minimum and
 * maximum of each stretch between them. If a stretch contains an alarm above 0, the point
 * with the highest alarm replaces the minimum. alarms: may be NULL. kept: receives
 * ascending indexes and has room for `most`. Returns the number of points chosen. */
size_t thin_choose(const double *values, const double *alarms, size_t count, size_t most,
                   size_t *kept);

/* Return how many points of `budget` a line of n points gets. All lines have `total`
 * points. Every line gets at least THIN_LEAST points, or n if n is smaller. The budget
 * must be at least THIN_LEAST for each line. */
size_t thin_share(size_t n, size_t total, size_t lines, size_t budget);

#endif
