/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - the route table of the HTTP resources in docs/reference/api.md and
 * docs/development/agent-protocol.md */
#ifndef RINGBENCH_SERVER_API_API_H
#define RINGBENCH_SERVER_API_API_H

#include <stdbool.h>
#include <sys/queue.h>

#include "server/http/http.h"
#include "server/rendezvous/rendezvous.h"
#include "server/runs/agents.h"
#include "server/runs/scheduler.h"
#include "server/store/store.h"

struct jobs;
struct live_summary;
struct task;
struct watches;

/* Everything the handlers work on; every pointer is borrowed. One struct for the server's
 * life, given to http_server_create as `arg`. */
struct api {
    uv_loop_t *loop;
    struct store *store;
    struct scheduler *scheduler;
    struct agents *agents; /* the scheduler's */
    struct rendezvous *rendezvous;
    struct jobs *jobs;
    struct watches *watches;
    struct http_server *http; /* set after http_server_create */
    bool allow_faults;        /* runs may inject faults into workers */
    bool is_tls;              /* links begin with https */
    bool has_tokens;          /* requests need a token */
    int64_t started_ms;
    uv_process_t demo; /* the simulated nodes' process, while is_playing */
    bool is_playing;
    unsigned heavy_tasks;                     /* running or queued */
    LIST_HEAD(, live_summary) live_summaries; /* of runs with listening clients */
    struct task *alone; /* queue of tasks that run one at a time; NULL at first */
};

/* Stop the simulated nodes, if any. Accepts every struct api. */
void api_demo_end(struct api *api);

/* The route table, terminated by a NULL method. */
const struct http_route *api_routes(void);

#endif
