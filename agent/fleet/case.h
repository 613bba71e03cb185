/* SPDX-License-Identifier: Apache-2.0 */
/* case.h - simulates one case of a run on the nodes of a fleet: sends the events that its
 * workers would send */
#ifndef RINGBENCH_AGENT_FLEET_CASE_H
#define RINGBENCH_AGENT_FLEET_CASE_H

#include <stdbool.h>
#include <uv.h>

#include "agent/fleet/fleet.h"

struct fleet_case;

/* Create the case of a start command. Its nodes join with fleet_case_join and are
 * borrowed until the case ends on them. */
struct fleet_case *fleet_case_create(uv_loop_t *loop, const struct fleet_config *config,
                                     const struct command *start);
void fleet_case_destroy(struct fleet_case *one); /* Accepts NULL. */

const struct case_id *fleet_case_id(const struct fleet_case *one);

bool fleet_case_is_over(const struct fleet_case *one);

/* Let the node's ranks join. The case begins when all its nodes have joined. */
void fleet_case_join(struct fleet_case *one, struct fleet_node *node,
                     const struct command *start);

/* Stop the case on the node (stop), or drop it there without events (forget). */
void fleet_case_stop(struct fleet_case *one, struct fleet_node *node);
void fleet_case_forget(struct fleet_case *one, struct fleet_node *node);

#endif
