/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - declares the state that all handlers share, and the route table of the HTTP
 * resources in docs/reference/api.md and docs/development/agent-protocol.md */
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

/* The state that all handlers use. Every pointer is borrowed. The server has a single
 * struct, which http_server_create() receives as `arg`. */
struct api {
    uv_loop_t *loop;
    struct store *store;
    struct scheduler *scheduler;
    struct agents *agents; /* borrowed from the scheduler */
    struct rendezvous *rendezvous;
    struct jobs *jobs;
    struct watches *watches;
    struct http_server *http; /* set after http_server_create */
    bool allow_faults;        /* runs may inject faults into workers */
    bool is_tls;              /* the server uses TLS, so links begin with https */
    bool has_tokens;          /* requests need a token */
    int64_t started_ms;
    uv_process_t demo; /* process of the simulated nodes; valid while is_playing */
    bool is_playing;
    unsigned heavy_tasks; /* number of STORE_HEAVY tasks that run or wait */
    LIST_HEAD(, live_summary)
    live_summaries;     /* summaries of the runs that clients follow */
    struct task *alone; /* queue of tasks that run one at a time; NULL at first */
};

/* Stop the simulated nodes, if there are any. */
void api_demo_end(struct api *api);

/* The route table, terminated by a NULL method. */
const struct http_route *api_routes(void);

#endif
