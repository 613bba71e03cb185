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

static void put_parameter(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "%s=", name);
    put_encoded(out, value);
}

void page_link_next(struct http_request *request, const char *name, const char *value,
                    const char *const *kept)
{
    struct buf out;

    buf_init(&out, LINK_MAX);
    buf_append_str(&out, "<?");
    put_parameter(&out, name, value);
    for (; *kept; kept++) {
        const char *other = http_request_query(request, *kept);

        if (other) {
            buf_append_str(&out, "&");
            put_parameter(&out, *kept, other);
        }
    }
    if (buf_append_str(&out, ">; rel=\"next\"") == 0)
        http_reply_header(request, "Link", out.data);
    buf_release(&out);
}
