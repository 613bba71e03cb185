/* fuzz_nccl_tuning.c - a line of NCCL's log that may name an algorithm */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/nccl/nccl_tuning.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char line[1200] = " NCCL INFO 8 Bytes -> ";
    size_t at = size > 0 && data[0] == '+' ? strlen(line) : 0;
    struct choice choice = {.channels = 0};

    size = size < sizeof(line) - at ? size : sizeof(line) - at - 1;
    memcpy(line + at, data, size);
    line[at + size] = '\0';
    if (nccl_tuning_parse(line, &choice) && (!*choice.algo || choice.channels < 0))
        abort();
    return 0;
}
