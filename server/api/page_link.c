/* page_link.c - where the next page of an answer is, as a header */
#include "server/api/page_link.h"

#include <string.h>

#include "common/base/buf.h"

#define LINK_MAX ((size_t)65536) /* any query, even with each byte as %XX */

static void put_encoded(struct buf *out, const char *text)
{
    for (; *text; text++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~",
                   *text))
            buf_append(out, text, 1);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
}

struct link {
    struct buf out;
    const char *name; /* of the parameter that is put next */
};

static void put_parameter(void *arg, const char *value)
{
    struct link *link = arg;

    buf_printf(&link->out, "%c%s=", link->out.len > 1 ? '&' : '?', link->name);
    put_encoded(&link->out, value);
}

void page_link_next(struct task *task, const char *name, const char *value)
{
    struct link link = {.name = name};

    buf_init(&link.out, LINK_MAX);
    buf_append_str(&link.out, "<");
    put_parameter(&link, value);
    for (size_t i = 0; i < task->route->n; i++) {
        link.name = task->route->list[i].name;
        if (strcmp(link.name, name) != 0)
            http_request_query_each(task->request, link.name, put_parameter, &link);
    }
    link.name = "format";
    http_request_query_each(task->request, link.name, put_parameter, &link);
    if (buf_append_str(&link.out, ">; rel=\"next\"") == 0)
        task_header(task, "Link", link.out.data);
    buf_release(&link.out);
}
