/* SPDX-License-Identifier: Apache-2.0 */
/* last_figures.h - keeps the latest value of each figure, by run name and backend, for
 * metrics collectors */
#ifndef RINGBENCH_SERVER_RUNS_LAST_FIGURES_H
#define RINGBENCH_SERVER_RUNS_LAST_FIGURES_H

#include <jansson.h>

/* If there are more figures, the figure with the oldest value is dropped. */
#define LAST_FIGURES_MAX 500

/* Add a run's values (run_values.h). figures: [{"run_name","backend","figure",
 * "value","created_ms"}], the latest first. If a run has several settings, only the first
 * setting counts. */
void last_figures_note(json_t *figures, const json_t *values);

#endif
