/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - splits a stream of bytes into lines of limited length */
#include "agent/case/lines.h"

#include <assert.h>
#include <string.h>

void lines_init(struct lines *lines, size_t max, enum lines_overlong overlong)
{
    memset(lines, 0, sizeof(*lines));
    lines->max = max;
    lines->overlong = overlong;
    buf_init(&lines->partial, max);
}

void lines_release(struct lines *lines)
{
    buf_release(&lines->partial);
}

static void drop(struct lines *lines, size_t len)
{
    lines->dropped += lines->partial.len + len;
    buf_release(&lines->partial);
}

static void keep(struct lines *lines, const char *data, size_t len, lines_fn fn,
                 void *arg)
{
    if (lines->dropped > 0) {
        assert(lines->partial.len == 0);
        lines->dropped += len;
        return;
    }
    while (lines->overlong == LINES_CUT && lines->partial.len + len > lines->max) {
        size_t room = lines->max - lines->partial.len;

        if (buf_append(&lines->partial, data, room))
            break;
        fn(arg, lines->partial.data, lines->partial.len, 0);
        buf_clear(&lines->partial);
        data += room;
        len -= room;
    }
    if (buf_append(&lines->partial, data, len))
        drop(lines, len);
}

static void finish(struct lines *lines, lines_fn fn, void *arg)
{
    if (lines->dropped > 0)
        fn(arg, NULL, 0, lines->dropped);
    else
        fn(arg, lines->partial.data ? lines->partial.data : "", lines->partial.len, 0);
    lines->dropped = 0;
    /* Release the memory of a long line instead of keeping it until the stream ends. */
    if (lines->partial.capacity > 65536)
        buf_release(&lines->partial);
    else
        buf_clear(&lines->partial);
}

void lines_feed(struct lines *lines, const char *data, size_t len, lines_fn fn, void *arg)
{
    while (len > 0) {
        const char *end = memchr(data, '\n', len);
        size_t n = end ? (size_t)(end - data) : len;

        if (end && n <= lines->max && lines->partial.len == 0 && lines->dropped == 0) {
            fn(arg, data, n, 0);
        } else {
            keep(lines, data, n, fn, arg);
            if (end)
                finish(lines, fn, arg);
        }
        data += n + (end != NULL);
        len -= n + (end != NULL);
    }
}

void lines_end(struct lines *lines, lines_fn fn, void *arg)
{
    if (lines->partial.len > 0 || lines->dropped > 0)
        finish(lines, fn, arg);
}
