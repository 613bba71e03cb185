/* preview.h - what would become of a run if it were posted now */
#ifndef RINGBENCH_SERVER_RUNS_PREVIEW_H
#define RINGBENCH_SERVER_RUNS_PREVIEW_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/problem.h"
#include "common/spec/run_spec.h"
#include "server/nodes/placement.h"

/* As scheduler_preview. chosen: nodes behind the queue (released); NULL for a run whose
 * nodes an engine has yet to give. */
json_t *preview(const struct node_registry *registry, const struct run_spec *spec,
                const struct placement *chosen);

/* As scheduler_plan_fits. */
bool preview_plan_fits(const struct node_registry *nodes, const struct run_spec *spec,
                       struct problems *problems);

#endif
