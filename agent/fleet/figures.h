/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - computes the figures of a row from the model */
#ifndef RINGBENCH_AGENT_FLEET_FIGURES_H
#define RINGBENCH_AGENT_FLEET_FIGURES_H

#include "agent/worker/bench/row.h"
#include "agent/worker/sim/sim_model.h"

/* Compute a group's row; release *out with measurement_release. *us receives the time of
 * a call without its own noise. If *us is HUGE_VAL, the call never ends and *out is not
 * set. */
void figures_make(const struct sim_model *model, const struct case_file *file,
                  const struct bench_row *row, struct measurement *out, double *us);

#endif
