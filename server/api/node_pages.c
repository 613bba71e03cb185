/* node_pages.c - all nodes with their inventories, in steps */
#include "server/api/node_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_util.h"

struct node_pages {
    const struct api *api;
    struct http_stream *stream;
    char last[256]; /* name that was sent last */
};

static void on_gone(void *data)
{
    struct node_pages *pages = data;

    http_stream_abort(pages->stream);
    free(pages);
}

/* -1: memory is out. */
static int write_page(struct node_pages *pages, const json_t *nodes)
{
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        char *text = json_text(node);

        if (!text)
            return -1;
        if (pages->last[0])
            http_stream_write(pages->stream, ",", 1);
        http_stream_write(pages->stream, text, strlen(text));
        free(text);
        snprintf(pages->last, sizeof(pages->last), "%s", json_get_str(node, "name", ""));
    }
    return 0;
}

static void on_drained(void *data)
{
    struct node_pages *pages = data;
    bool is_more = false;
    json_t *nodes = scheduler_nodes_page(pages->api->scheduler, pages->last,
                                         NODE_PAGE_BYTES, &is_more);
    int result = nodes ? write_page(pages, nodes) : -1;

    json_decref(nodes);
    if (result == 0 && is_more)
        return;
    if (result == 0) {
        http_stream_write(pages->stream, "]}", 2);
        http_stream_end(pages->stream);
    } else {
        http_stream_abort(pages->stream);
    }
    free(pages);
}

void node_pages_reply(struct http_request *request, const struct api *api, json_t *nodes)
{
    static const char head[] = "{\"nodes\":[";
    struct node_pages *pages = calloc(1, sizeof(*pages));

    if (!pages) {
        http_reply_problem(request, 503, NULL, "out of memory");
        json_decref(nodes);
        return;
    }
    pages->api = api;
    pages->stream = http_stream_begin(request, 200, "application/json", on_gone, pages);
    if (!pages->stream) {
        free(pages);
    } else {
        http_stream_on_drain(pages->stream, on_drained);
        http_stream_write(pages->stream, head, sizeof(head) - 1);
        if (write_page(pages, nodes)) {
            http_stream_abort(pages->stream);
            free(pages);
        }
    }
    json_decref(nodes);
}
