/* node_pages.c - the list of nodes, in steps */
#include "server/api/node_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/lists.h"

#define PAGE_BYTES ((size_t)128 << 10) /* a ms or so to make */

struct node_pages {
    const struct api *api;
    struct http_stream *stream;
    const struct params_format *format;
    bool has_inventory;
    struct columns_layout layout;
    char last[256]; /* name that was sent last */
};

static json_t *next_page(const struct node_pages *pages, bool *is_more)
{
    return scheduler_nodes_page(pages->api->scheduler, pages->last, pages->has_inventory,
                                PAGE_BYTES, is_more);
}

static void on_gone(void *data)
{
    struct node_pages *pages = data;

    http_stream_abort(pages->stream);
    free(pages);
}

static int append_json(const struct node_pages *pages, const json_t *nodes,
                       struct buf *out)
{
    int result = 0;

    if (!pages->last[0])
        buf_append_str(out, "{\"nodes\":[");
    for (size_t i = 0; i < json_array_size(nodes) && !result; i++) {
        if (pages->last[0] || i > 0)
            buf_append_str(out, ",");
        result = json_append(json_array_get(nodes, i), out);
    }
    return result;
}

/* -1: memory is out. */
static int write_page(struct node_pages *pages, const json_t *nodes)
{
    size_t n = json_array_size(nodes);
    struct buf out;
    int result;

    buf_init(&out, SIZE_MAX);
    if (pages->format->value == FORM_JSON)
        result = append_json(pages, nodes, &out);
    else
        result = lists_append(LIST_NODES, nodes, (enum form)pages->format->value,
                              &pages->layout, &out);
    if (result == 0)
        http_stream_write(pages->stream, out.data, out.len);
    if (n > 0)
        snprintf(pages->last, sizeof(pages->last), "%s",
                 json_get_str(json_array_get(nodes, n - 1), "name", ""));
    buf_release(&out);
    return result;
}

static void on_drained(void *data)
{
    struct node_pages *pages = data;
    bool is_more = false;
    json_t *nodes = next_page(pages, &is_more);
    int result = nodes ? write_page(pages, nodes) : -1;

    json_decref(nodes);
    if (result == 0 && is_more)
        return;
    if (result == 0) {
        if (pages->format->value == FORM_JSON)
            http_stream_write(pages->stream, "]}", 2);
        http_stream_end(pages->stream);
    } else {
        http_stream_abort(pages->stream);
    }
    free(pages);
}

/* These first (taken), and the others page by page. */
static void stream_pages(struct http_request *request, const struct node_pages *form,
                         json_t *nodes)
{
    struct node_pages *pages = memory_zeroed(1, sizeof(*pages), "a list");
    char type[PARAMS_TYPE_MAX];

    *pages = *form;
    params_content_type(form->format, type);
    pages->stream = http_stream_begin(request, 200, type, on_gone, pages);
    if (!pages->stream) {
        free(pages);
    } else {
        http_stream_on_drain(pages->stream, on_drained);
        if (write_page(pages, nodes)) {
            http_stream_abort(pages->stream);
            free(pages);
        }
    }
    json_decref(nodes);
}

void node_pages_reply(struct http_request *request, const struct api *api,
                      const struct nodes_params *params)
{
    bool is_whole =
        params->format->value == FORM_JSON || params->format->value == FORM_NDJSON;
    const struct node_pages form = {.api = api,
                                    .format = params->format,
                                    .has_inventory = params->has_inventory && is_whole};
    bool is_more = false;
    json_t *nodes;

    nodes = next_page(&form, &is_more);
    if (is_more)
        stream_pages(request, &form, nodes);
    else
        lists_reply(request, LIST_NODES, params->format,
                    json_pack("{s:o}", "nodes", nodes));
}
