/* SPDX-License-Identifier: Apache-2.0 */
/* lasting.h - whether a series left its reference permanently, even if only slightly
 *
 * A single night is judged by the usual range of levels. This test pools the nights since
 * a fixed reference, so that it detects a step of 3 % or a drift of 0.2 % per night
 * despite a scatter of 1 % between runs. docs/explanation/method.md has its power. */
#ifndef RINGBENCH_SERVER_ANALYSIS_LASTING_H
#define RINGBENCH_SERVER_ANALYSIS_LASTING_H

#include <stdbool.h>
#include <stddef.h>

#include "server/analysis/level_split.h"

#define LASTING_NIGHTS_MIN 3 /* a more recent change is not lasting yet */
#define LASTING_LEVEL 0.01   /* error level per night */

/* Return true if the level changed after the reference and stayed changed, and fill
 * *split. levels: logarithms of n runs' values, oldest first. The first n_reference, at
 * least LEVEL_RUNS_MIN, are the normal level. Changes within +-margin (a logarithm) count
 * as none. With too few runs returns false. */
bool lasting_find(const double *levels, size_t n, size_t n_reference, double margin,
                  struct level_split *split);

#endif
