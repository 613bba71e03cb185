/* fuzz_ncclog.c - lines of NCCL's log: outside input, whatever a library prints */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/ncclog/ncclog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    struct ncclog log;
    json_t *json;
    char *text;

    ncclog_init(&log);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline ? newline : end) - at);

        ncclog_line(&log, at, len);
        at += len + 1;
    }
    json = ncclog_json(&log);
    text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    if (json && !text)
        abort();
    free(text);
    json_decref(json);
    return 0;
}
