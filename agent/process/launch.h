/* launch.h - what the ranks of a case are started with, and starting them one by one
 *
 * A node may have a thousand ranks: whoever starts them does so in batches and serves the
 * loop in between. */
#ifndef RINGBENCH_AGENT_PROCESS_LAUNCH_H
#define RINGBENCH_AGENT_PROCESS_LAUNCH_H

#include "agent/bind/plan.h"
#include "agent/process/case_input.h"
#include "agent/process/rank.h"
#include "agent/process/supervisor.h"

struct launch;

/* Check what the command asks for against what this node allows, and write the case file,
 * whose path goes to `path`. base: what all workers inherit; id and what `ends` says of
 * ends and output stay borrowed. *limit_s: of a program, 0: none. NULL with the reason.
 */
struct launch *launch_create(const struct supervisor_params *params,
                             const struct env_list *base, const struct command *command,
                             const struct rank_params *ends, char path[CASE_PATH_MAX],
                             long *limit_s, struct error *err);
void launch_destroy(struct launch *launch);

/* Ranks that have not been started yet. */
size_t launch_left(const struct launch *launch);

/* Start the next one, on the CPUs that the plan has for it; NULL with the reason. */
struct rank *launch_next(struct launch *launch, const struct bind_plan *plan,
                         struct error *err);

#endif
