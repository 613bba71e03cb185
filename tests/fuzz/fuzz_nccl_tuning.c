/* fuzz_nccl_tuning.c - a line of NCCL's log that may name an algorithm, or what NCCL
 * chooses by */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/nccl/nccl_table.h"
#include "agent/worker/nccl/nccl_tuning.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of that line and others, as they come in a log. */
static void predict(const char *line)
{
    static const char *const others[] = {
        " NCCL INFO   Algorithm   | Tree | Ring | NVLS |",
        " NCCL INFO  Max NThreads | 512 | 640 | 512 | 512 | 640 | 512 | 0 | 0 | 640 |",
        " NCCL INFO     AllReduce | 7.2/18.4 | 15.6/1.0 | 21.5/58.7 |",
        " NCCL INFO threadThresholds 8/8/64 | 16/8/64 | 512 | 512",
        " NCCL INFO 8 coll channels, 4 nvls channels"};
    const struct nccl_table_call call = {
        COLLECTIVE_ALL_REDUCE, DTYPE_FLOAT32, REDOP_SUM, 1 << 20, 16, 2, 90};
    struct choice choice = {.channels = 0};

    for (size_t at = 0; at <= sizeof(others) / sizeof(others[0]); at++) {
        struct nccl_table table = {.channels = 0};
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            if (i == at)
                nccl_table_read(&table, line);
            nccl_table_read(&table, others[i]);
        }
        nccl_table_read(&table, line);
        nccl_table_predict(&table, &call, &choice);
    }
}

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
    predict(line);
    return 0;
}
