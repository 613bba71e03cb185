/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ncclog.c - lines of NCCL's log: outside input, whatever a library prints */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/ncclog/ncclog_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    struct ncclog_set set;

    ncclog_set_init(&set, 4);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline ? newline : end) - at);

        ncclog_set_line(&set, at, len);
        at += len + 1;
    }
    for (size_t i = 0; i < set.n; i++) {
        json_t *json = ncclog_set_json(&set, i);
        char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

        if (json && !text)
            abort();
        free(text);
        json_decref(json);
    }
    ncclog_set_release(&set);
    return 0;
}
