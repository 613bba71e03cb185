/* played_case.h - one case of a run on nodes that are played: what its workers would say,
 * with the rows of the bench loop over the simulation's model (docs/simulation.md)
 *
 * The loop is in a thread of its own; all else is of the uv loop's. */
#ifndef RINGBENCH_AGENT_FLEET_PLAYED_CASE_H
#define RINGBENCH_AGENT_FLEET_PLAYED_CASE_H

#include <stdbool.h>
#include <uv.h>

#include "agent/fleet/fleet_config.h"
#include "agent/link/command.h"
#include "agent/link/outbox.h"
#include "common/base/error.h"

struct played_case;

struct played_case_params {
    uv_loop_t *loop;
    const struct fleet_config *config;
    /* Nothing of the case is left on a node: the event of that has number `seq`. */
    void (*on_gone)(void *node, const struct case_id *id, uint64_t seq);
    /* Nor on any: destroy it, now or later. */
    void (*on_over)(void *arg, struct played_case *over);
    void *arg;
};

/* A node as the case sees it; borrowed until on_gone, or played_case_kill. */
struct played_place {
    void *node;
    const char *name;
    const char *build; /* of its workers */
    struct outbox *outbox;
};

struct played_case *played_case_create(const struct played_case_params *params,
                                       const struct command *start, struct error *err);

/* Not from within on_gone. NULL is fine. */
void played_case_destroy(struct played_case *played);

const struct case_id *played_case_id(const struct played_case *played);

/* The node's ranks join. When all nodes of the case have, it begins. -1: out of memory.
 */
int played_case_join(struct played_case *played, const struct played_place *place,
                     const struct command *start, struct error *err);

/* As SIGTERM does with the node's workers. */
void played_case_stop(struct played_case *played, const void *node);

/* The node is gone without a word; its peers notice. */
void played_case_kill(struct played_case *played, const void *node);

#endif
