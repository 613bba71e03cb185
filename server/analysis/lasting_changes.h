/* SPDX-License-Identifier: Apache-2.0 */
/* lasting_changes.h - finds the figures of a gated run that changed permanently since
 * their reference */
#ifndef RINGBENCH_SERVER_ANALYSIS_LASTING_CHANGES_H
#define RINGBENCH_SERVER_ANALYSIS_LASTING_CHANGES_H

#include <jansson.h>
#include <stdbool.h>

/* Find lasting changes. series: as store_get_base() returns them, with the judged run
 * last. reference: the run accepted as baseline, or NULL. The reference of a series
 * consists of LEVEL_RUNS_MIN runs: those from the accepted run on, or else the oldest
 * ones. margin: a fraction, 0.02 is 2 %. All series share the error level LASTING_LEVEL.
 *
 * Return a new array
 * [{"figure","run","change","low","high","p","slower","earliest","latest",
 * "reference":[first run, last run],"runs"}], the largest change first. `run` is the most
 * likely first run of the change. */
json_t *lasting_changes(const json_t *series, const char *reference, double margin);

/* Return true if any change is for the worse. */
bool lasting_changes_have_slower(const json_t *changes);

/* Return a new string such as "lasting: all_reduce float32 bandwidth 3.1 % slower since
 * run 06cw (2.0 % to 4.2 %), and 2 more"; "" for no change. */
json_t *lasting_changes_text(const json_t *changes);

#endif
