/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_nccl_log.c - NCCL's log of a whole job, as somebody uploads it: read, parted into
 * jobs and judged */
#include <stdint.h>
#include <stdlib.h>

#include "server/import/nccl_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *read = nccl_log_read((const char *)data, size);
    char *text = read ? json_dumps(read, JSON_COMPACT) : NULL;

    if (read && (!text || !json_is_array(json_object_get(read, "verdicts"))))
        abort();
    free(text);
    json_decref(read);
    return 0;
}
