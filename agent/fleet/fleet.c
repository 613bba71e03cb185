/* fleet.c - the nodes of a played fleet */
#include "agent/fleet/fleet.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "agent/fleet/played_case.h"
#include "agent/fleet/played_node.h"
#include "agent/link/curl_loop.h"
#include "agent/link/http_client.h"
#include "agent/worker/bench/says.h"
#include "agent/worker/sim/sim.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"

#define AT_ONCE 128 /* nodes that are registering, or leaving */
/* Nodes that share libcurl's state: it looks through their connections one by one, and
 * has descriptors and tables of its own. */
#define SHARING 64
#define LEAVE_MS 10000
#define CONNECTIONS 2 /* of a node: the poll, the events */

struct fleet {
    const struct fleet_config *config;
    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_timer_t timer; /* until the leave, and then of it */
    json_t *backends;
    struct curl_loop **shared;
    size_t n_shared;
    struct played_node **nodes;
    long n_started, n_registered, n_leaving, n_left;
    struct played_case **cases;
    size_t n_cases;
    int64_t started_ns;
    bool is_told, is_leaving;
    int status;
    struct error *err;
};

/* ---- Cases ---- */

static void on_gone(void *node, const struct case_id *id, uint64_t seq)
{
    played_node_gone(node, id, seq);
}

static void on_over(void *arg, struct played_case *over)
{
    struct fleet *fleet = arg;

    for (size_t i = 0; i < fleet->n_cases; i++) {
        if (fleet->cases[i] == over) {
            fleet->cases[i] = fleet->cases[--fleet->n_cases];
            played_case_destroy(over);
            return;
        }
    }
}

static struct played_case *find_case(const struct fleet *fleet, const struct case_id *id)
{
    for (size_t i = 0; i < fleet->n_cases; i++)
        if (case_id_equal(played_case_id(fleet->cases[i]), id))
            return fleet->cases[i];
    return NULL;
}

static struct played_case *make_case(struct fleet *fleet, const struct command *start,
                                     struct error *err)
{
    struct played_case_params params = {.loop = &fleet->loop,
                                        .config = fleet->config,
                                        .on_gone = on_gone,
                                        .on_over = on_over,
                                        .arg = fleet};
    struct played_case **cases =
        realloc(fleet->cases, (fleet->n_cases + 1) * sizeof(struct played_case *));
    struct played_case *played;

    if (!cases) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    fleet->cases = cases;
    played = played_case_create(&params, start, err);
    if (played)
        fleet->cases[fleet->n_cases++] = played;
    return played;
}

static void on_start(void *arg, struct played_node *node, const struct command *start)
{
    struct fleet *fleet = arg;
    struct played_case *played = find_case(fleet, &start->id);
    struct played_place place = played_node_place(node);
    struct error err;

    if (!played)
        played = make_case(fleet, start, &err);
    if (!played || played_case_join(played, &place, start, &err))
        played_node_refuse(node, &start->id, err.text);
}

static void on_stop(void *arg, struct played_node *node, const struct case_id *id)
{
    struct played_case *played = find_case(arg, id);

    if (played)
        played_case_stop(played, node);
}

static void on_death(void *arg, struct played_node *node)
{
    struct fleet *fleet = arg;

    /* A case that is over by that leaves the list. */
    for (size_t i = fleet->n_cases; i > 0; i--)
        played_case_kill(fleet->cases[i - 1], node);
}

/* ---- Coming and going ---- */

static void fail(struct fleet *fleet, const char *text)
{
    if (fleet->status == 0)
        error_set(fleet->err, ERROR_UNAVAILABLE, "%s", text);
    fleet->status = 1;
    uv_stop(&fleet->loop);
}

static void start_more(struct fleet *fleet)
{
    while (fleet->n_started < fleet->config->nodes &&
           fleet->n_started < fleet->n_registered + AT_ONCE)
        played_node_start(fleet->nodes[fleet->n_started++]);
}

static void on_registered(void *arg)
{
    struct fleet *fleet = arg;

    fleet->n_registered++;
    start_more(fleet);
    if (fleet->n_registered < fleet->config->nodes || fleet->is_told)
        return;
    fleet->is_told = true;
    printf("%ld simulated nodes of %ld ranks each registered with %s in %.1f s\n",
           fleet->config->nodes, fleet->config->agent.ranks, fleet->config->agent.server,
           (double)(clock_monotonic_ns() - fleet->started_ns) / 1e9);
    fflush(stdout);
}

static void on_fatal(void *arg, const char *text)
{
    fail(arg, text);
}

static void leave_more(struct fleet *fleet)
{
    while (fleet->n_leaving < fleet->n_started &&
           fleet->n_leaving < fleet->n_left + AT_ONCE)
        played_node_leave(fleet->nodes[fleet->n_leaving++]);
    if (fleet->n_left >= fleet->n_started)
        uv_stop(&fleet->loop);
}

static void on_left(void *arg)
{
    struct fleet *fleet = arg;

    fleet->n_left++;
    if (fleet->is_leaving)
        leave_more(fleet);
}

static void on_leave_timeout(uv_timer_t *timer)
{
    struct fleet *fleet = timer->data;

    log_warn("leaving although the server has not heard of %ld nodes that they do",
             fleet->n_started - fleet->n_left);
    uv_stop(&fleet->loop);
}

static void leave(struct fleet *fleet)
{
    fleet->is_leaving = true;
    uv_timer_start(&fleet->timer, on_leave_timeout, LEAVE_MS, 0);
    leave_more(fleet);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct fleet *fleet = handle->data;

    if (fleet->is_leaving)
        _exit(128 + signum);
    leave(fleet);
}

static void on_time_over(uv_timer_t *timer)
{
    leave(timer->data);
}

/* ---- Making and ending it ---- */

/* By each of the shared. What one kept beyond that others would lack, until the server
 * closes idle connections. */
static long connections_kept(size_t n_shared)
{
    struct rlimit limit;
    rlim_t each = 0;

    if (!getrlimit(RLIMIT_NOFILE, &limit))
        each = (limit.rlim_cur - FLEET_FILES_KEPT) / n_shared;
    return each < CONNECTIONS * SHARING ? (long)each : CONNECTIONS * SHARING;
}

static void make_shared(struct fleet *fleet)
{
    size_t n = ((size_t)fleet->config->nodes + SHARING - 1) / SHARING;

    fleet->shared = memory_zeroed(n, sizeof(struct curl_loop *), "HTTP clients");
    while (fleet->n_shared < n)
        fleet->shared[fleet->n_shared++] =
            http_client_loop(&fleet->loop, connections_kept(n));
}

static int make_nodes(struct fleet *fleet, struct error *err)
{
    struct played_node_params params = {.loop = &fleet->loop,
                                        .config = fleet->config,
                                        .on_registered = on_registered,
                                        .on_start = on_start,
                                        .on_stop = on_stop,
                                        .on_death = on_death,
                                        .on_left = on_left,
                                        .on_fatal = on_fatal,
                                        .arg = fleet};

    fleet->nodes = calloc((size_t)fleet->config->nodes, sizeof(struct played_node *));
    fleet->backends = json_pack("{s:o}", "sim", says_probe(&backend_sim));
    if (!fleet->nodes || !fleet->backends)
        return error_set(err, ERROR_MEMORY, "out of memory");
    params.backends = fleet->backends;
    for (long i = 0; i < fleet->config->nodes; i++) {
        params.shared = fleet->shared[i / SHARING];
        fleet->nodes[i] = played_node_create(&params, i, err);
        if (!fleet->nodes[i])
            return -1;
    }
    return 0;
}

static void init_handles(struct fleet *fleet)
{
    static const int signums[] = {SIGTERM, SIGINT};

    uv_timer_init(&fleet->loop, &fleet->timer);
    fleet->timer.data = fleet;
    if (fleet->config->for_s)
        uv_timer_start(&fleet->timer, on_time_over, (uint64_t)fleet->config->for_s * 1000,
                       0);
    for (size_t i = 0; i < 2; i++) {
        uv_signal_init(&fleet->loop, &fleet->signals[i]);
        fleet->signals[i].data = fleet;
        uv_signal_start(&fleet->signals[i], on_signal, signums[i]);
    }
}

static void release(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->n_cases; i++)
        played_case_destroy(fleet->cases[i]);
    for (long i = 0; fleet->nodes && i < fleet->config->nodes; i++)
        played_node_destroy(fleet->nodes[i]);
    for (size_t i = 0; i < fleet->n_shared; i++)
        curl_loop_destroy(fleet->shared[i]);
    for (size_t i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&fleet->signals[i], NULL);
    uv_close((uv_handle_t *)&fleet->timer, NULL);
    uv_run(&fleet->loop, UV_RUN_DEFAULT);
    uv_loop_close(&fleet->loop);
    json_decref(fleet->backends);
    free(fleet->shared);
    free(fleet->nodes);
    free(fleet->cases);
}

int fleet_run(const struct fleet_config *config, struct error *err)
{
    struct fleet fleet = {
        .config = config, .err = err, .started_ns = clock_monotonic_ns()};

    err->code = ERROR_NONE;
    if (uv_loop_init(&fleet.loop)) {
        error_set(err, ERROR_INTERNAL, "can't make an event loop");
        return 1;
    }
    init_handles(&fleet);
    make_shared(&fleet);
    if (make_nodes(&fleet, err)) {
        fleet.status = 1;
    } else {
        start_more(&fleet);
        uv_run(&fleet.loop, UV_RUN_DEFAULT);
    }
    release(&fleet);
    return fleet.status;
}
