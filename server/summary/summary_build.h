/* SPDX-License-Identifier: Apache-2.0 */
/* summary_build.h - builds series from points, thinned for charts. The functions do no
 * I/O. */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_BUILD_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_BUILD_H

#include "server/summary/summary.h"

struct summary_line {
    int combination, case_no, cycle, key;
    struct summary_point point;
};

/* Build the summary's series from n lines, ordered by series and size. Keep at most
 * `budget` points. texts: the keys, by number. The summary gets its own reference to each
 * key. */
void summary_add_series(struct summary *summary, const struct summary_line *lines,
                        size_t n, json_t *const *texts, size_t budget);

/* Return how many of a chart's n lines fit into a budget of points. All n fit if they
 * contain at most `budget` points in `total`, or if each can be thinned to THIN_LEAST
 * points. Otherwise return the number of lines that can have THIN_LEAST points each. */
size_t summary_lines_shown(size_t n, size_t total, size_t budget);

#endif
