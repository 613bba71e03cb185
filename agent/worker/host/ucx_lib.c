/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_lib.c - load UCX at run time */
#include "agent/worker/host/ucx_lib.h"

#include <stddef.h>
#include <stdlib.h>

#include "agent/worker/base/shared_object.h"

int ucx_lib_open(struct ucx_lib *lib, struct error *err)
{
    static const char *const names[] = {"libucp.so.0", NULL};
    static const struct shared_symbol symbols[] = {
#define UCX_SYMBOL(member, function)                                                     \
    {#function, offsetof(struct ucx_lib, member), false, NULL},
        UCX_FUNCTIONS(UCX_SYMBOL)
#undef UCX_SYMBOL
    };
    void *handle =
        shared_object_open(getenv("RINGBENCH_UCX_LIB"), names, NULL, NULL, err);

    return handle ? shared_object_bind(handle, symbols,
                                       sizeof(symbols) / sizeof(*symbols), lib, err)
                  : -1;
}
