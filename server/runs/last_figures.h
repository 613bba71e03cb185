/* SPDX-License-Identifier: Apache-2.0 */
/* last_figures.h - what the latest runs came to, for those who watch figures: of each
 * figure the last level, told apart by the run's name and backend */
#ifndef RINGBENCH_SERVER_RUNS_LAST_FIGURES_H
#define RINGBENCH_SERVER_RUNS_LAST_FIGURES_H

#include <jansson.h>

/* Beyond so many the one that was measured longest ago is forgotten. */
#define LAST_FIGURES_MAX 500

/* Take in the values of a run (run_values.h). figures: [{"run_name","backend","figure",
 * "value","created_ms"}], the latest first. The first of several settings of a run
 * counts. */
void last_figures_note(json_t *figures, const json_t *values);

#endif
