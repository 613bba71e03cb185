/* lasting_changes.h - which figures of a gated run changed for good since its reference
 */
#ifndef RINGBENCH_SERVER_ANALYSIS_LASTING_CHANGES_H
#define RINGBENCH_SERVER_ANALYSIS_LASTING_CHANGES_H

#include <jansson.h>
#include <stdbool.h>

/* series: as store_get_base has them, the run itself last; reference: the run that was
 * accepted as a baseline, or NULL. A series' reference is the LEVEL_RUNS_MIN runs from
 * this one on, or its oldest ones. margin: a part, 0.02 is 2 %. All series share
 * LASTING_LEVEL.
 *
 * [{"figure","run","change","low","high","p","slower","earliest","latest","reference":
 * [first, last run],"runs"}], the largest change first: it began with `run`, most likely.
 * A new array. */
json_t *lasting_changes(const json_t *series, const char *reference, double margin);

/* Whether one of them is slower. */
bool lasting_changes_have_slower(const json_t *changes);

/* "lasting: all_reduce float32 bandwidth 3.1 % slower since run 06cw (2.0 % to 4.2 %),
 * and 2 more"; "" for none. A new string. */
json_t *lasting_changes_text(const json_t *changes);

#endif
