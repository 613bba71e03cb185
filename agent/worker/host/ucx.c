/* SPDX-License-Identifier: Apache-2.0 */
/* ucx.c - transfer data between hosts over UCX, if available and selected */
#include "agent/worker/host/ucx.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/worker/host/ucx_lanes.h"
#include "agent/worker/host/ucx_lib.h"
#include "common/base/memory.h"

#define SEND_BYTES 262144 /* largest send; one per peer is in progress */
/* how often to check for a peer's death after UCX reports a failure */
#define LOSS_CHECKS 100
#define ADDRESS_MAX 65536

struct peer {
    struct ucx *ucx;
    ucp_ep_h ep;
    void *sending; /* the request in progress, or NULL */
    size_t sending_len;
    char *held; /* a received block, and how much of it has been read */
    size_t held_len, held_at;
};

struct ucx {
    struct links *links;
    struct ucx_lib lib;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_len;
    struct peer *peers; /* one per rank, like links->endpoints */
};

static const ucp_request_param_t no_options = {0};

/* If the peer has died, the control tree notices the death at about the same time as UCX.
 * In this case report the death, not UCX's error. */
static ssize_t fail(const struct endpoint *endpoint, ucs_status_t status)
{
    const struct peer *peer = endpoint->own;
    struct watch *watch = peer->ucx->links->watch;
    const struct timespec pause = {.tv_nsec = 1000000};
    char text[160];

    for (int i = 0; i < LOSS_CHECKS && watch_check(watch) == 0; i++)
        nanosleep(&pause, NULL);
    snprintf(text, sizeof(text), "UCX: rank %d: %s",
             links_name(peer->ucx->links, endpoint->rank),
             peer->ucx->lib.status_text(status));
    watch_fail(watch, ERROR_IO, text);
    errno = EIO;
    return -1;
}

/* After a return of 0 the caller must pass the same data at the same address again. */
static ssize_t ucx_send(struct endpoint *endpoint, const void *data, size_t len)
{
    struct peer *peer = endpoint->own;
    const struct ucx_lib *lib = &peer->ucx->lib;

    if (!peer->sending) {
        peer->sending_len = len < SEND_BYTES ? len : SEND_BYTES;
        peer->sending = lib->send(peer->ep, data, peer->sending_len, &no_options);
        if (!peer->sending)
            return (ssize_t)peer->sending_len;
        if (UCS_PTR_IS_ERR(peer->sending)) {
            ucs_status_t status = UCS_PTR_STATUS(peer->sending);
            peer->sending = NULL;
            return fail(endpoint, status);
        }
    }
    lib->progress(peer->ucx->worker);
    ucs_status_t status = lib->status(peer->sending);
    if (status == UCS_INPROGRESS)
        return 0;
    lib->request_free(peer->sending);
    peer->sending = NULL;
    return status == UCS_OK ? (ssize_t)peer->sending_len : fail(endpoint, status);
}

static ssize_t ucx_recv(struct endpoint *endpoint, void *data, size_t len)
{
    struct peer *peer = endpoint->own;
    const struct ucx_lib *lib = &peer->ucx->lib;

    if (!peer->held) {
        lib->progress(peer->ucx->worker);
        void *held = lib->recv(peer->ep, &peer->held_len);
        if (UCS_PTR_IS_ERR(held))
            return fail(endpoint, UCS_PTR_STATUS(held));
        peer->held = held;
        peer->held_at = 0;
        if (!held)
            return 0;
    }
    size_t left = peer->held_len - peer->held_at, n = len < left ? len : left;
    memcpy(data, peer->held + peer->held_at, n);
    peer->held_at += n;
    if (n == left) {
        lib->release(peer->ep, peer->held);
        peer->held = NULL;
    }
    return (ssize_t)n;
}

static json_t *ucx_ways(const struct endpoint *endpoint)
{
    const struct peer *peer = endpoint->own;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (out) {
        peer->ucx->lib.ep_print(peer->ep, out);
        fclose(out);
    }
    json_t *ways = ucx_lanes(text ? text : "");
    free(text);
    return ways;
}

static const struct transport transport_ucx = {"ucx", ucx_send, ucx_recv, ucx_ways};

static void progress(void *arg)
{
    const struct ucx *ucx = arg;

    ucx->lib.progress(ucx->worker);
}

/* UCX requires a handler. The endpoint's next call returns the failure. */
static void ignore_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)arg;
    (void)ep;
    (void)status;
}

/* ---- Creation and end ---- */

static int explain(const struct ucx *ucx, const char *what, ucs_status_t status,
                   struct error *err)
{
    return error_set(err, ERROR_UNSUPPORTED, "UCX: %s: %s", what,
                     ucx->lib.status_text(status));
}

static int open_worker(struct ucx *ucx, struct error *err)
{
    const struct ucx_lib *lib = &ucx->lib;
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_STREAM};
    const ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_config_t *config;

    /* UCX's defaults of 8 and 64 KiB halve TCP's bandwidth for messages of 256 KiB or
     * more. */
    setenv("UCX_TCP_TX_SEG_SIZE", "256k", 0);
    setenv("UCX_TCP_RX_SEG_SIZE", "256k", 0);
    ucs_status_t status = lib->config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return explain(ucx, "ucp_config_read", status, err);
    status = lib->init(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &ucx->context);
    lib->config_release(config);
    if (status != UCS_OK) {
        ucx->context = NULL;
        return explain(ucx, "ucp_init", status, err);
    }
    status = lib->worker_create(ucx->context, &worker, &ucx->worker);
    if (status != UCS_OK) {
        ucx->worker = NULL;
        return explain(ucx, "ucp_worker_create", status, err);
    }
    status = lib->get_address(ucx->worker, &ucx->address, &ucx->address_len);
    return status == UCS_OK ? 0 : explain(ucx, "ucp_worker_get_address", status, err);
}

static int open_ucx(struct ucx *ucx, struct error *err)
{
    if (ucx_lib_open(&ucx->lib, err))
        return error_prefix(err, "UCX (Debian: libucx0)");
    return open_worker(ucx, err);
}

void ucx_destroy(struct ucx *ucx)
{
    const ucp_request_param_t by_force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                          .flags = UCP_EP_CLOSE_FLAG_FORCE};

    if (!ucx)
        return;
    ucx->links->watch->progress = NULL;
    for (int rank = 0; ucx->peers && rank < ucx->links->world_size; rank++) {
        struct peer *peer = &ucx->peers[rank];
        void *closing = peer->ep ? ucx->lib.ep_close(peer->ep, &by_force) : NULL;
        if (UCS_PTR_IS_PTR(closing))
            ucx->lib.request_free(closing);
        if (peer->sending)
            ucx->lib.request_free(peer->sending);
    }
    if (ucx->address)
        ucx->lib.release_address(ucx->worker, ucx->address);
    if (ucx->worker)
        ucx->lib.worker_destroy(ucx->worker);
    if (ucx->context)
        ucx->lib.cleanup(ucx->context);
    free(ucx->peers);
    free(ucx);
}

void ucx_flush(struct ucx *ucx)
{
    struct watch_idle idle = {0};

    if (!ucx || watch_check(ucx->links->watch))
        return;
    void *flush = ucx->lib.flush(ucx->worker, &no_options);
    while (UCS_PTR_IS_PTR(flush) && ucx->lib.status(flush) == UCS_INPROGRESS &&
           watch_idle(ucx->links->watch, &idle) == 0)
        ucx->lib.progress(ucx->worker);
    if (UCS_PTR_IS_PTR(flush))
        ucx->lib.request_free(flush);
}

/* ---- Connections ---- */

/* True if this host has an active RDMA port. */
static bool has_rdma(void)
{
    glob_t found = {0};
    bool is_active = false;

    if (glob("/sys/class/infiniband/*/ports/*/state", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !is_active; i++) {
            char text[64] = "";
            FILE *file = fopen(found.gl_pathv[i], "re");
            is_active = file && fgets(text, sizeof(text), file) && strstr(text, "ACTIVE");
            if (file)
                fclose(file);
        }
    }
    globfree(&found);
    return is_active;
}

static int connect_peer(struct ucx *ucx, int rank, const char *address, struct error *err)
{
    struct links *links = ucx->links;
    struct peer *peer = &ucx->peers[rank];
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                    .address =
                                        (const ucp_address_t *)(const void *)address,
                                    .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                    .err_handler = {.cb = ignore_failure}};

    ucs_status_t status = ucx->lib.ep_create(ucx->worker, &params, &peer->ep);
    if (status != UCS_OK) {
        peer->ep = NULL;
        explain(ucx, "ucp_ep_create", status, err);
        return error_prefix(err, "rank %d", links_name(links, rank));
    }
    peer->ucx = ucx;
    links->endpoints[rank] = (struct endpoint){
        .transport = &transport_ucx, .rank = rank, .fd = -1, .out_fd = -1, .own = peer};
    return 0;
}

static bool is_everywhere(const struct links *links, const uint32_t *lens)
{
    for (int rank = 0; rank < links->world_size; rank++)
        if (lens[links_name(links, rank)] == 0)
            return false;
    return true;
}

/* lens: the length of each rank's UCX address, indexed by the rank in the case. All
 * groups exchange their addresses in one operation. */
static int connect_peers(struct ucx *ucx, struct links *links, const uint32_t *lens,
                         struct error *err)
{
    size_t n = (size_t)links->tree->world_size, most = 0;

    for (size_t i = 0; i < n; i++)
        most = lens[i] > most ? lens[i] : most;
    if (most == 0)
        return 0;
    if (most > ADDRESS_MAX)
        return error_set(err, ERROR_UNSUPPORTED,
                         "UCX: the worker's address is %zu bytes long, the limit is %d",
                         most, ADDRESS_MAX);
    char *all = memory_zeroed(n + 1, most, "UCX"), *mine = all + n * most;
    if (ucx)
        memcpy(mine, ucx->address, ucx->address_len);
    int status = tree_allgather(links->tree, mine, most, all, err);
    for (int rank = 0;
         !status && ucx && is_everywhere(links, lens) && rank < links->world_size; rank++)
        if (links->group_of[rank] < 0)
            status = connect_peer(ucx, rank, all + (size_t)links_name(links, rank) * most,
                                  err);
    free(all);
    return status;
}

static struct ucx *create(struct links *links, enum host_transport asked,
                          struct error *err)
{
    struct ucx *ucx;

    if (asked == HOST_TRANSPORT_AUTO && !has_rdma())
        return NULL;
    ucx = memory_zeroed(1, sizeof(*ucx), "UCX");
    ucx->peers = memory_zeroed((size_t)links->world_size, sizeof(*ucx->peers), "UCX");
    ucx->links = links;
    if (open_ucx(ucx, err)) {
        ucx_destroy(ucx);
        return NULL;
    }
    return ucx;
}

int ucx_connect(struct links *links, enum host_transport asked, struct ucx **out,
                struct error *err)
{
    struct tree *tree = links->tree;

    *out = NULL;
    if (asked == HOST_TRANSPORT_TCP || tree->is_local)
        return 0;
    struct ucx *ucx = create(links, asked, err);
    if (!ucx && asked == HOST_TRANSPORT_UCX)
        return -1;
    uint32_t len = ucx ? (uint32_t)ucx->address_len : 0;
    uint32_t *lens = memory_zeroed((size_t)tree->world_size, sizeof(*lens), "UCX");
    int status = tree_allgather(tree, &len, sizeof(len), lens, err) ||
                 connect_peers(ucx, links, lens, err);
    bool is_used = !status && ucx && !links->is_local && is_everywhere(links, lens);
    free(lens);
    if (!is_used) {
        ucx_destroy(ucx);
        return status ? -1 : 0;
    }
    *out = ucx;
    links->watch->progress = progress;
    links->watch->progress_arg = ucx;
    return 0;
}
