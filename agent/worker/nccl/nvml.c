/* nvml.c - NVML, loaded at run time */
#include "agent/worker/nccl/nvml.h"

#include <stdlib.h>

#include "agent/worker/base/shared_object.h"

void *nvml_open(void)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    static const struct shared_symbol symbol = {.name = "nvmlInit_v2"};
    struct error ignored;
    void *library = shared_object_open(getenv("RINGBENCH_NVML_LIB"), names, &ignored);
    int (*init)(void);

    if (!library || shared_object_bind(library, &symbol, 1, &init, &ignored) || init())
        return NULL;
    return library;
}
