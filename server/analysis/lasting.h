/* SPDX-License-Identifier: Apache-2.0 */
/* lasting.h - decides if a series has left its reference permanently, even if only
 * slightly
 *
 * A single night is judged by the usual range of levels. This test combines all nights
 * since a fixed reference. It detects a step of 3 % or a drift of 0.2 % per night despite
 * a scatter of 1 % between runs. docs/explanation/method.md describes its statistical
 * power. */
#ifndef RINGBENCH_SERVER_ANALYSIS_LASTING_H
#define RINGBENCH_SERVER_ANALYSIS_LASTING_H

#include <stdbool.h>
#include <stddef.h>

#include "server/analysis/level_split.h"

#define LASTING_NIGHTS_MIN 3 /* minimum number of nights since the change */
#define LASTING_LEVEL 0.01   /* error level per night */

/* Return true if the level changed after the reference and stayed changed, and fill
 * *split. levels: logarithms of n runs' values, oldest first. The first n_reference
 * levels, at least LEVEL_RUNS_MIN, are the reference. Changes within +-margin (a
 * logarithm) are ignored. With too few runs, return false. */
bool lasting_find(const double *levels, size_t n, size_t n_reference, double margin,
                  struct level_split *split);

#endif
