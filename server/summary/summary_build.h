/* summary_build.h - series out of points, thinned to what a chart can show. Pure. */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_BUILD_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_BUILD_H

#include "server/summary/summary.h"

/* A point and its series. */
struct summary_line {
    int combination, case_no, cycle, key;
    struct summary_point point;
};

/* Make the summary's series of n lines, which are ordered by their series and by size,
 * and keep at most `budget` points. texts: the keys by number. Of each choice the summary
 * gets a reference of its own. */
void summary_add_series(struct summary *summary, const struct summary_line *lines,
                        size_t n, json_t *const *texts, size_t budget);

/* The number of lines to show of n that have `total` points: all unless points have to be
 * thinned, and then as many as get THIN_LEAST points each. */
size_t summary_lines_shown(size_t n, size_t total, size_t budget);

#endif
