/* lists.c - the API's lists: JSON, or columns for a terminal */
#include "server/api/lists.h"

#include "common/json_util.h"
#include "server/api/columns.h"
#include "server/api/params.h"

#define TEXT_MAX ((size_t)64 << 20)

enum form { FORM_JSON, FORM_TEXT };

static const struct params_format formats[] = {
    {"json", "application/json", FORM_JSON},
    {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

static const struct column run_columns[] = {
    {"ID", "id", NULL, false},
    {"STATE", "state", NULL, false},
    {"CREATED", "created", NULL, false},
    {"BACKEND", "backend", NULL, false},
    {"RANKS", "world_size", NULL, true},
    {"DONE", "rows_done", NULL, true},
    {"OF", "rows_total", NULL, true},
    {"GB/S", "summary.peak_busbw_gbs", NULL, true},
    {"WHAT", "program", "collectives", false},
    {"NAME", "name", NULL, false},
    {NULL, NULL, NULL, false},
};

static const struct column node_columns[] = {
    {"NAME", "name", NULL, false},       {"STATE", "state", NULL, false},
    {"GROUP", "group", NULL, false},     {"RANKS", "ranks", NULL, true},
    {"ADDRESS", "address", NULL, false}, {"SEEN", "last_seen", NULL, false},
    {"RUN", "run", NULL, false},         {"LABELS", "labels", NULL, false},
    {NULL, NULL, NULL, false},
};

static const struct column program_columns[] = {
    {"NAME", "name", NULL, false},
    {"RANKS/NODE", "ranks_per_node", NULL, true},
    {"PARAMETERS", "parameters", NULL, false},
    {"METRICS", "metrics", NULL, false},
    {"NODES", "nodes", NULL, false},
    {"DESCRIPTION", "description", NULL, false},
    {NULL, NULL, NULL, false},
};

static const struct column store_columns[] = {
    {"NAME", "name", NULL, false},     {"STANDING", "standing", NULL, false},
    {"PORT", "port", NULL, true},      {"CONNECTIONS", "connections", NULL, true},
    {"KEYS", "key_count", NULL, true}, {"BYTES", "bytes", NULL, true},
    {"TTL_S", "ttl_s", NULL, true},    {NULL, NULL, NULL, false},
};

static const struct {
    const char *key;
    const struct column *columns;
} lists[] = {
    [LIST_RUNS] = {"runs", run_columns},
    [LIST_NODES] = {"nodes", node_columns},
    [LIST_PROGRAMS] = {"programs", program_columns},
    [LIST_STORES] = {"stores", store_columns},
};

bool lists_can_reply(struct http_request *request)
{
    int form;

    return params_format(request, formats, &form);
}

bool lists_want_json(struct http_request *request)
{
    int form;

    return params_format(request, formats, &form) && form == FORM_JSON;
}

void lists_reply(struct http_request *request, enum list list, json_t *document)
{
    const char *next = json_get_str(document, "next", NULL);
    struct buf out;
    int form;

    if (!params_format(request, formats, &form)) {
        json_decref(document);
        return;
    }
    if (form == FORM_JSON || !document) {
        http_reply_json(request, 200, document);
        return;
    }
    buf_init(&out, TEXT_MAX);
    if (columns_append(lists[list].columns, json_object_get(document, lists[list].key),
                       &out))
        http_reply_problem(request, 503, NULL,
                           "the list is too long for text: take JSON");
    else {
        if (next)
            buf_printf(&out, "# there is more: cursor=%s\n", next);
        http_reply_text(request, 200, "text/plain; charset=utf-8", out.data, out.len);
    }
    buf_release(&out);
    json_decref(document);
}
