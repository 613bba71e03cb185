/* SPDX-License-Identifier: Apache-2.0 */
/* summary_build.h - builds series from points, thinned for charts. Pure. */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_BUILD_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_BUILD_H

#include "server/summary/summary.h"

/* A point with its series. */
struct summary_line {
    int combination, case_no, cycle, key;
    struct summary_point point;
};

/* Build the summary's series from n lines, ordered by series and size, and keep at most
 * `budget` points. texts: the keys, by number. The summary gets its own reference to each
 * choice. */
void summary_add_series(struct summary *summary, const struct summary_line *lines,
                        size_t n, json_t *const *texts, size_t budget);

/* Return how many of n lines with `total` points to show: all if no thinning is needed,
 * else as many as can get THIN_LEAST points each. */
size_t summary_lines_shown(size_t n, size_t total, size_t budget);

#endif
