/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - the figures of a row, as the model has them: nothing is timed */
#ifndef RINGBENCH_AGENT_FLEET_FIGURES_H
#define RINGBENCH_AGENT_FLEET_FIGURES_H

#include "agent/worker/bench/row.h"
#include "agent/worker/sim/sim_model.h"

/* The row of a group; release the figures with measurement_release. us: of a call,
 * without noise of its own; HUGE_VAL: it never ends, and *out is not set. */
void figures_make(const struct sim_model *model, const struct case_file *file,
                  const struct bench_row *row, struct measurement *out, double *us);

#endif
