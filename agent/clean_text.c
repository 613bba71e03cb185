/* clean_text.c - make any bytes fit for a JSON string */
#include "agent/clean_text.h"

#include "common/utf8.h"

int clean_text_append(struct buf *out, const char *data, size_t len)
{
    size_t start = 0, i = 0;

    while (i < len) {
        size_t n = utf8_sequence(data + i, len - i);

        if (n > 0 && data[i] != '\0') {
            i += n;
            continue;
        }
        if (buf_append(out, data + start, i - start) ||
            buf_append(out, "\xef\xbf\xbd", 3))
            return -1;
        start = ++i;
    }
    return buf_append(out, data + start, len - start);
}

json_t *clean_text_json(const char *data, size_t len)
{
    struct buf clean;
    json_t *string = NULL;

    buf_init(&clean, 3 * len + 1);
    if (clean_text_append(&clean, data, len) == 0)
        string = json_stringn(clean.data ? clean.data : "", clean.len);
    buf_release(&clean);
    return string;
}
