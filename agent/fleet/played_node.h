/* played_node.h - one node of a played fleet: an agent by docs/agent-protocol.md, with a
 * real agent's link, whose workers are played (played_case.h) */
#ifndef RINGBENCH_AGENT_FLEET_PLAYED_NODE_H
#define RINGBENCH_AGENT_FLEET_PLAYED_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "agent/fleet/fleet_config.h"
#include "agent/fleet/played_case.h"
#include "agent/link/command.h"
#include "common/base/error.h"

struct curl_loop;
struct played_node;

struct played_node_params {
    uv_loop_t *loop;
    struct curl_loop *shared; /* see link.h */
    const struct fleet_config *config;
    json_t *backends; /* of the inventory */
    void (*on_registered)(void *arg);
    void (*on_start)(void *arg, struct played_node *node, const struct command *start);
    void (*on_stop)(void *arg, struct played_node *node, const struct case_id *id);
    /* It dies with all that it has. */
    void (*on_death)(void *arg, struct played_node *node);
    void (*on_left)(void *arg);
    void (*on_fatal)(void *arg, const char *text);
    void *arg;
};

/* Number `index` of the fleet. What params point to outlives it. */
struct played_node *played_node_create(const struct played_node_params *params,
                                       long index, struct error *err);
void played_node_destroy(struct played_node *node); /* NULL is fine */

/* Register, and be there from then on; whatever faults it has begin. */
void played_node_start(struct played_node *node);

/* Say good-bye; on_left follows. */
void played_node_leave(struct played_node *node);

/* As a case has it. */
struct played_place played_node_place(struct played_node *node);

/* It has a case; until nothing of that is left (the event `seq`). */
int played_node_take(struct played_node *node, const struct case_id *id);
void played_node_gone(struct played_node *node, const struct case_id *id, uint64_t seq);

/* It can't take one. */
void played_node_refuse(struct played_node *node, const struct case_id *id,
                        const char *reason);

#endif
