/* SPDX-License-Identifier: Apache-2.0 */
/* chooser.c - the algorithm that the emulated NCCL selects for a call */
#include "tests/nccl_emulation/chooser.h"

#include "tests/nccl_emulation/nccl.h"
#include "tests/nccl_emulation/reduction.h"
#include "tests/nccl_emulation/settings.h"

enum { TREE, RING };
enum { LL, LL128, SIMPLE };

static bool is_in_window(const struct ncclComm *comm, const char *buffer)
{
    for (int i = 0; i < comm->n_registered; i++)
        if (buffer >= comm->registered[i].begin &&
            buffer < comm->registered[i].begin + comm->registered[i].bytes)
            return true;
    return false;
}

static size_t bytes_of(const struct operation *operation)
{
    return operation->count * reduction_element(operation->type);
}

struct chosen chooser_take(const struct operation *operation)
{
    size_t bytes = bytes_of(operation);
    struct chosen out = {
        .algo = operation->kind == OPERATION_ALL_REDUCE && bytes <= 4096 ? TREE : RING,
        .proto = bytes <= 4096    ? LL
                 : bytes <= 65536 ? LL128
                                  : SIMPLE,
        .channels = bytes <= 4096 ? 2 : 16};

    out.algo = (int)emulation_setting("algo", out.algo);
    out.is_symmetric = emulation_setting("symmetric", 0) &&
                       is_in_window(operation->comm, operation->send) &&
                       is_in_window(operation->comm, operation->recv);
    return out;
}

const char *chooser_function(const struct operation *operation)
{
    static const char *const names[] = {"AllReduce", "AllGather", "ReduceScatter",
                                        "Broadcast", "Reduce",    "AlltoAll",
                                        "Gather",    "Scatter"};

    if (operation->kind != OPERATION_POINT_TO_POINT)
        return names[operation->kind];
    return operation->transfers->is_send ? "Send" : "Recv";
}

const char *chooser_algorithm(int algo)
{
    static const char *const names[] = {"TREE",          "RING", "COLLNET_DIRECT",
                                        "COLLNET_CHAIN", "NVLS", "NVLS_TREE"};

    return names[algo];
}

const char *chooser_protocol(int proto)
{
    static const char *const names[] = {"LL", "LL128", "SIMPLE"};

    return names[proto];
}
