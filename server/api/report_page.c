/* SPDX-License-Identifier: Apache-2.0 */
/* report_page.c - fills the page of a report with the run's data */
#include "server/api/report_page.h"

#include <string.h>

#include "server/api/report_data.h"

#define POLICY_MARK "http-equiv=\"Content-Security-Policy\" content=\""

struct span {
    const char *data;
    size_t len;
};

static struct span whole_page(void)
{
    return (struct span){(const char *)report_data, report_data_len};
}

/* Split `page` at the first `mark`: return the part before it and leave the part after it
 * in `page`. If there is no mark, return all of `page`. */
static struct span cut(struct span *page, const char *mark)
{
    const char *at = memmem(page->data, page->len, mark, strlen(mark));
    struct span before = *page;

    if (at) {
        before.len = (size_t)(at - page->data);
        page->data = at + strlen(mark);
        page->len -= before.len + strlen(mark);
    } else {
        page->len = 0;
    }
    return before;
}

bool report_page_exists(void)
{
    struct span page = whole_page();

    cut(&page, POLICY_MARK);
    return page.len > 0;
}

const char *report_page_policy(size_t *len)
{
    struct span page = whole_page(), policy;

    cut(&page, POLICY_MARK);
    policy = cut(&page, "\"");
    *len = policy.len;
    return policy.data;
}

/* Append `text`, with each character of `special` replaced. */
static int put_replaced(struct buf *out, const char *text, size_t len,
                        const char *special, const char *const *replacements)
{
    size_t from = 0;

    for (size_t i = 0; i < len; i++) {
        const char *found = text[i] ? strchr(special, text[i]) : NULL;

        if (!found)
            continue;
        if (buf_append(out, text + from, i - from) ||
            buf_append_str(out, replacements[found - special]))
            return -1;
        from = i + 1;
    }
    return buf_append(out, text + from, len - from);
}

static int put_text(struct buf *out, const char *text, size_t len)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;"};

    return put_replaced(out, text, len, "&<>", entities);
}

int report_page_put_json(struct buf *out, const char *json, size_t len)
{
    static const char *const escapes[] = {"\\u003c"};

    return put_replaced(out, json, len, "<", escapes);
}

int report_page_fill(struct buf *out, const char *title, const struct buf *text,
                     const struct buf *data)
{
    struct span rest = whole_page();
    struct span head = cut(&rest, "<!--slot title-->");
    struct span neck = cut(&rest, "<!--slot text-->");
    struct span body = cut(&rest, "<!--slot data-->");

    if (buf_append(out, head.data, head.len) || put_text(out, title, strlen(title)) ||
        buf_append(out, neck.data, neck.len) || put_text(out, text->data, text->len) ||
        buf_append(out, body.data, body.len) || buf_append(out, data->data, data->len))
        return -1;
    return buf_append(out, rest.data, rest.len);
}
