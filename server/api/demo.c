/* SPDX-License-Identifier: Apache-2.0 */
/* demo.c - starts a small simulated fleet with one slow node, for users without nodes */
#include <signal.h>
#include <stdio.h>

#include "common/base/beside.h"
#include "common/base/log.h"
#include "server/api/handlers.h"
#include "server/api/params.h"

#define DEMO_NODES 16
#define DEMO_SECONDS 900
#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number

const char *api_demo_refusal(const struct api *api)
{
    struct scheduler_counters counters;

    scheduler_counters(api->scheduler, &counters);
    if (api->has_tokens || api->is_tls)
        return "a server with tokens or TLS cannot start simulated nodes: run "
               "ringbench-sim --server URL --token-file FILE";
    if (api->is_playing || counters.nodes_idle || counters.nodes_busy)
        return "the server already has nodes, and simulated nodes would mix with them";
    return NULL;
}

static void on_closed(uv_handle_t *handle)
{
    struct api *api = handle->data;

    api->is_playing = false;
}

static void on_ended(uv_process_t *process, int64_t status, int signum)
{
    if (status || (signum && signum != SIGKILL))
        log_warn("ringbench-sim ended with status %d, signal %d", (int)status, signum);
    uv_close((uv_handle_t *)process, on_closed);
}

/* Start ringbench-sim with an empty environment. It exits after DEMO_SECONDS, even if
 * this server dies. Returns 0 or libuv's error. */
static int play(struct api *api, char *program, const char *url)
{
    static char nodes[] = "--nodes=" TEXT_OF(DEMO_NODES), racks[] = "--racks=4",
                slow[] = "--slow=sim-6:0.5", for_s[] = "--for-s=" TEXT_OF(DEMO_SECONDS);
    char server[HTTP_URL_MAX + 16];
    char *args[] = {program, server, nodes, racks, slow, for_s, NULL};
    char *no_env[] = {NULL};
    uv_process_options_t options = {
        .file = program, .args = args, .env = no_env, .exit_cb = on_ended};
    int rc;

    snprintf(server, sizeof(server), "--server=%s", url);
    api->demo.data = api;
    api->is_playing = true;
    rc = uv_spawn(api->loop, &api->demo, &options);
    if (rc)
        uv_close((uv_handle_t *)&api->demo, on_closed);
    return rc;
}

void api_demo_start(struct http_request *request, void *arg)
{
    struct api *api = arg;
    const char *refusal = api_demo_refusal(api);
    char url[HTTP_URL_MAX], program[PATH_MAX];
    int rc;

    if (!params_type(request, "application/json"))
        return;
    if (refusal) {
        http_reply_problem(request, 409, NULL, "%s", refusal);
        return;
    }
    rc = http_server_url(api->http, url) || beside_program("ringbench-sim", program)
             ? UV_ENOENT
             : play(api, program, url);
    if (rc)
        http_reply_problem(
            request, 503, NULL,
            "cannot start ringbench-sim from the folder of ringbench-server: %s",
            uv_strerror(rc));
    else
        http_reply_json(
            request, 202,
            json_pack("{s:i, s:i}", "nodes", DEMO_NODES, "for_s", DEMO_SECONDS));
}

void api_demo_end(struct api *api)
{
    if (api->is_playing)
        uv_process_kill(&api->demo, SIGKILL);
}
