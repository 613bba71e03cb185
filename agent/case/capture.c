/* SPDX-License-Identifier: Apache-2.0 */
/* capture.c - keeps the beginning and the end of an output stream */
#include "agent/case/capture.h"

#include <inttypes.h>
#include <string.h>

void capture_init(struct capture *capture)
{
    memset(capture, 0, sizeof(*capture));
    buf_init(&capture->pending, CAPTURE_HEAD_MAX + CAPTURE_TAIL_MAX + 256);
    buf_init(&capture->tail, 2 * CAPTURE_TAIL_MAX);
    capture->head_left = CAPTURE_HEAD_MAX;
}

void capture_release(struct capture *capture)
{
    buf_release(&capture->pending);
    buf_release(&capture->tail);
}

/* Drop whole lines from the front of the tail until at most `keep` bytes are left. */
static void trim_tail(struct capture *capture, size_t keep)
{
    const char *end;
    size_t n;

    if (capture->tail.len <= keep)
        return;
    n = capture->tail.len - keep;
    end = memchr(capture->tail.data + n - 1, '\n', capture->tail.len - n + 1);
    n = end ? (size_t)(end - capture->tail.data) + 1 : capture->tail.len;
    capture->cut_bytes += n;
    buf_consume(&capture->tail, n);
}

static int append_line(struct buf *buf, const char *line, size_t len)
{
    size_t before = buf->len;

    if (buf_append(buf, line, len) == 0 && buf_append(buf, "\n", 1) == 0)
        return 0;
    if (buf->len > before) {
        buf->len = before;
        buf->data[before] = '\0';
    }
    return -1;
}

void capture_add(struct capture *capture, const char *line, size_t len)
{
    if (!capture->is_cut && len + 1 <= capture->head_left &&
        append_line(&capture->pending, line, len) == 0) {
        capture->head_left -= len + 1;
        return;
    }
    capture->is_cut = true;
    if (capture->tail.len + len + 1 > capture->tail.max)
        trim_tail(capture, CAPTURE_TAIL_MAX);
    if (append_line(&capture->tail, line, len))
        capture->cut_bytes += len + 1;
}

void capture_end(struct capture *capture, const char *stream)
{
    trim_tail(capture, CAPTURE_TAIL_MAX);
    if (capture->cut_bytes > 0)
        buf_printf(&capture->pending,
                   "[ringbench: %" PRIu64 " bytes of %s are omitted here]\n",
                   capture->cut_bytes, stream);
    if (capture->tail.len > 0)
        buf_append(&capture->pending, capture->tail.data, capture->tail.len);
    buf_release(&capture->tail);
    capture->is_cut = true;
    capture->head_left = 0;
}
