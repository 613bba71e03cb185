/* fuzz_ras.c - answers of NCCL's RAS: whatever listens at its address */
#include <stdint.h>
#include <stdlib.h>

#include "agent/ncclog/ras.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_ours(const void *arg, long pid)
{
    (void)arg;
    return pid > 0 && pid < 10;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ras_case about = {2, is_ours, NULL};
    json_t *says = ras_read((const char *)data, size, &about);
    char *text = says ? json_dumps(says, JSON_COMPACT) : NULL;

    if (says && !text)
        abort();
    free(text);
    json_decref(says);
    return 0;
}
