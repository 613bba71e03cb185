/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - the events that a simulated node sends for its cases */
#include "agent/fleet/node.h"

const char *fleet_node_name(const struct fleet_node *node)
{
    return node->config.name;
}

struct outbox *fleet_node_outbox(struct fleet_node *node)
{
    return node->outbox;
}

void fleet_node_send(struct fleet_node *node, const struct case_id *id, int rank,
                     const char *type, json_t *event)
{
    json_t *line = json_pack("{s:s}", "type", type);

    if (event)
        json_object_update(line, event);
    json_decref(event);
    outbox_add_steal(node->outbox, id, rank, line);
}

struct held *fleet_node_held(struct fleet_node *node, const struct case_id *id)
{
    for (size_t i = 0; i < node->n_held; i++)
        if (case_id_equal(&node->held[i].id, id))
            return &node->held[i];
    return NULL;
}

void fleet_node_end_case(struct fleet_node *node, const struct case_id *id)
{
    struct held *held = fleet_node_held(node, id);
    uint64_t seq = outbox_add_steal(node->outbox, id, CASE_NO_RANK,
                                    json_pack("{s:s}", "type", "gone"));

    if (held)
        held->seq = seq;
}
