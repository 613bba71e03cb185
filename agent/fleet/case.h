/* SPDX-License-Identifier: Apache-2.0 */
/* case.h - one case of a run on simulated nodes: what its workers would report */
#ifndef RINGBENCH_AGENT_FLEET_CASE_H
#define RINGBENCH_AGENT_FLEET_CASE_H

#include <stdbool.h>
#include <uv.h>

#include "agent/fleet/fleet.h"

struct fleet_case;

/* The nodes are borrowed while they have the case. */
struct fleet_case *fleet_case_create(uv_loop_t *loop, const struct fleet_config *config,
                                     const struct command *start);
void fleet_case_destroy(struct fleet_case *one); /* NULL is fine */

const struct case_id *fleet_case_id(const struct fleet_case *one);

/* Whether no node has a rank of it any more. */
bool fleet_case_is_over(const struct fleet_case *one);

/* The node's ranks join. When all nodes of the case have, it begins. */
void fleet_case_join(struct fleet_case *one, struct fleet_node *node,
                     const struct command *start);

/* The node's workers are told to stop; or the node no longer has the case. */
void fleet_case_stop(struct fleet_case *one, struct fleet_node *node);
void fleet_case_forget(struct fleet_case *one, struct fleet_node *node);

#endif
