/* refusals.c - why nodes don't count for a run */
#include "server/nodes/refusals.h"

#include <stdbool.h>
#include <string.h>

/* Where the reason begins: behind "; NAME". */
static size_t why_at(size_t at, const char *node)
{
    return at + strlen("; ") + strlen(node);
}

static size_t end_of(const struct refusals *refusals, size_t i)
{
    return i + 1 < refusals->n ? refusals->items[i + 1].at : refusals->text.len;
}

static bool has_why(const struct refusals *refusals, size_t i, const char *why,
                    size_t len)
{
    size_t at = why_at(refusals->items[i].at, refusals->items[i].node);

    return end_of(refusals, i) - at == len &&
           memcmp(refusals->text.data + at, why, len) == 0;
}

void refusals_fold(struct refusals *refusals, const char *node, size_t before)
{
    struct buf *text = &refusals->text;
    size_t at = why_at(before, node), len;

    if (text->len <= at)
        return;
    len = text->len - at;
    text->len = before; /* so that the last one ends here */
    for (size_t i = 0; i < refusals->n; i++) {
        if (has_why(refusals, i, text->data + at, len)) {
            refusals->items[i].more++;
            return;
        }
    }
    if (refusals->n == REFUSALS_MAX)
        return;
    text->len = at + len;
    refusals->items[refusals->n].node = node;
    refusals->items[refusals->n].at = before;
    refusals->items[refusals->n++].more = 0;
}

void refusals_clear(struct refusals *refusals)
{
    buf_clear(&refusals->text);
    refusals->n = 0;
}

void refusals_append(const struct refusals *refusals, struct buf *out)
{
    const char *text = refusals->text.data;

    for (size_t i = 0; i < refusals->n; i++) {
        size_t at = refusals->items[i].at, why = why_at(at, refusals->items[i].node);

        buf_append(out, text + at, why - at);
        if (refusals->items[i].more > 0)
            buf_printf(out, " and %zu more", refusals->items[i].more);
        buf_append(out, text + why, end_of(refusals, i) - why);
    }
}
