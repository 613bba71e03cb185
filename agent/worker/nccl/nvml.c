/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - load NVML at run time */
#include "agent/worker/nccl/nvml.h"

#include <stdlib.h>

#include "agent/worker/base/shared_object.h"

void *nvml_open(struct error *err)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    static const struct shared_symbol symbol = {.name = "nvmlInit_v2"};
    void *library =
        shared_object_open(getenv("RINGBENCH_NVML_LIB"), names, NULL, NULL, err);
    int (*init)(void);
    int code;

    if (!library || shared_object_bind(library, &symbol, 1, &init, err))
        return NULL;
    code = init();
    if (code)
        error_set(err, ERROR_UNSUPPORTED, "nvmlInit_v2 failed with code %d", code);
    return code ? NULL : library;
}
