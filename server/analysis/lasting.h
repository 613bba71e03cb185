/* lasting.h - whether a series left its reference for good, even if by little.
 *
 * A single night is judged by the usual range of levels. This test pools the nights since
 * a reference that does not move, so a step of 3 % and a drift of 0.2 % a night show
 * against a scatter of 1 % between runs. docs/explanation/method.md has its power. */
#ifndef RINGBENCH_SERVER_ANALYSIS_LASTING_H
#define RINGBENCH_SERVER_ANALYSIS_LASTING_H

#include <stdbool.h>
#include <stddef.h>

#include "server/analysis/level_split.h"

#define LASTING_NIGHTS_MIN 3 /* a change that is younger does not last yet */
#define LASTING_LEVEL 0.01   /* of error, a night */

/* levels: logarithms of the values of n runs, oldest first. The first n_reference of
 * them, at least LEVEL_RUNS_MIN, are taken as normal. Changes within +-margin (a
 * logarithm) count as none.
 *
 * Returns whether the level changed with a later run and stayed changed, and fills
 * *split. If there are too few runs, it did not. */
bool lasting_find(const double *levels, size_t n, size_t n_reference, double margin,
                  struct level_split *split);

#endif
