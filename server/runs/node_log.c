/* node_log.c - what became of a node */
#include "server/runs/node_log.h"

#include <stdio.h>

#include "server/nodes/node.h"
#include "server/runs/services.h"
#include "server/store/store.h"

void node_log(const struct services *services, const struct node *node, const char *state,
              const char *detail)
{
    struct store_write *write = store_write_create();

    /* Nobody waits for it, and losing a line of it harms no run. */
    store_write_node(write, node->name, clock_read(services->clock).wall_ms, state,
                     detail);
    store_submit(services->store, write, false, NULL, NULL);
}

void node_log_before(const struct node_registry *nodes, const char *name,
                     struct node_before *before)
{
    const struct node *node = node_find(nodes, name);

    before->is_known = node != NULL;
    before->state = node ? node->state : NODE_LEFT;
}

void node_log_registration(const struct services *services, const struct node *node,
                           const struct node_before *before, bool is_new)
{
    static const char *const were[] = {
        [NODE_ALIVE] = "was there", [NODE_LOST] = "was lost", [NODE_LEFT] = "had left"};
    char text[400];

    if (!is_new) {
        if (before->state != NODE_ALIVE)
            node_log(services, node, "returned", NULL);
        return;
    }
    snprintf(text, sizeof(text), "from %s%s%s", node->peer ? node->peer : "?",
             before->is_known ? "; the one before " : "",
             before->is_known ? were[before->state] : "");
    node_log(services, node, before->is_known ? "replaced" : "registered", text);
}
