/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cpu_list.c - any text that should be a list of CPUs: its ranges are in order, and
 * it meets itself */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = calloc(len + 1, 1);
    const char *at = text;
    unsigned first, last;

    if (!text)
        return 0;
    memcpy(text, data, len);
    while (cpu_list_next(&at, &first, &last))
        if (first > last || last >= CPU_LIST_CPUS_MAX || at > text + len)
            abort();
    if (cpu_list_is_valid(text) && !cpu_lists_meet(text, text))
        abort();
    free(text);
    return 0;
}
