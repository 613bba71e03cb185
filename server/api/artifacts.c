/* artifacts.c - texts that belong to a run: what NCCL took its nodes to be, and what
 * these said of themselves */
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/json_differences.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/store/store_artifacts.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX 10000

static void on_list(void *arg, const struct error *err, json_t *result)
{
    struct http_request *request = parked_take(arg);

    if (request && err)
        http_reply_error(request, err);
    else if (request)
        http_reply_json(request, 200, json_incref(result));
    json_decref(result);
}

static void list(struct api *api, struct http_request *request, json_t *run)
{
    int64_t limit = LIMIT_DEFAULT, after = 0;
    struct parked *parked;

    if (!params_type(request, "application/json") ||
        !params_integer(request, "limit", 1, LIMIT_MAX, &limit) ||
        !params_integer(request, "after", 0, INT32_MAX, &after))
        return;
    parked = parked_create(api, request);
    if (parked)
        store_read_artifacts(api->store, json_get_str(run, "id", ""),
                             http_request_query(request, "name"), after, (int)limit,
                             on_list, parked);
}

void api_run_artifacts(struct http_request *request, void *arg)
{
    lookup_id(arg, request, http_request_param(request, "id"), list);
}

/* The first of the texts that were asked for, or else the request is answered. */
static const char *take_text(struct http_request *request, const struct error *err,
                             const json_t *texts)
{
    if (request && err)
        http_reply_error(request, err);
    return request && !err ? json_get_str(json_array_get(texts, 0), "text", "") : NULL;
}

/* What a node sent is shown as text, whatever a browser would make of it. */
static void on_text(void *arg, const struct error *err, json_t *texts)
{
    struct http_request *request = parked_take(arg);
    const char *text = take_text(request, err, texts);

    if (text)
        http_reply_text(request, 200, "text/plain; charset=utf-8", text, strlen(text));
    json_decref(texts);
}

static void ask(struct api *api, struct http_request *request, const char *type,
                const struct store_artifact_key *keys, size_t n, store_read_done *done)
{
    struct parked *parked =
        params_type(request, type) ? parked_create(api, request) : NULL;

    if (parked)
        store_read_texts(api->store, keys, n, done, parked);
}

void api_run_artifact(struct http_request *request, void *arg)
{
    const struct store_artifact_key key = {.run = http_request_param(request, "id"),
                                           .digest =
                                               http_request_param(request, "digest")};

    ask(arg, request, "text/plain", &key, 1, on_text);
}

static void on_inventory(void *arg, const struct error *err, json_t *texts)
{
    struct http_request *request = parked_take(arg);
    const char *text = take_text(request, err, texts);

    if (text)
        http_reply_json(request, 200, json_loads(text, 0, NULL));
    json_decref(texts);
}

void api_run_inventory(struct http_request *request, void *arg)
{
    const struct store_artifact_key key = {.run = http_request_param(request, "id"),
                                           .node = http_request_param(request, "name"),
                                           .name = STORE_INVENTORY};

    ask(arg, request, "application/json", &key, 1, on_inventory);
}

static void on_both(void *arg, const struct error *err, json_t *texts)
{
    struct http_request *request = parked_take(arg);
    const char *text = take_text(request, err, texts);
    json_t *base, *head;

    if (text) {
        head = json_loads(text, 0, NULL);
        base = json_loads(json_get_str(json_array_get(texts, 1), "text", ""), 0, NULL);
        http_reply_json(request, 200,
                        json_pack("{s:o?}", "differences", json_differences(base, head)));
        json_decref(base);
        json_decref(head);
    }
    json_decref(texts);
}

void api_run_node_differences(struct http_request *request, void *arg)
{
    const char *base = http_request_query(request, "base");
    const char *node = http_request_query(request, "base_node");
    const struct store_artifact_key head = {.run = http_request_param(request, "id"),
                                            .node = http_request_param(request, "name"),
                                            .name = STORE_INVENTORY};
    const struct store_artifact_key keys[] = {
        head, {base ? base : head.run, NULL, node ? node : head.node, STORE_INVENTORY}};

    if (base || node)
        ask(arg, request, "application/json", keys, 2, on_both);
    else if (params_type(request, "application/json"))
        http_reply_problem(request, 422, NULL,
                           "say what it is held against: base=RUN, base_node=NODE or "
                           "both");
}
