/* chooser.c - the algorithm that the emulated NCCL takes for a call, and its log of that
 */
#include "tests/nccl_emulation/chooser.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/nccl_emulation/nccl.h"
#include "tests/nccl_emulation/reduction.h"
#include "tests/nccl_emulation/say.h"
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
        .channels = bytes <= 4096 ? 2 : 16,
        .time_us = 10 + (float)bytes / 1000};

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

/* Read once, as NCCL's level is, and again when it is told to. */
static atomic_bool logs_tuning;

void chooser_begin(void)
{
    const char *level = getenv("NCCL_DEBUG"), *parts = getenv("NCCL_DEBUG_SUBSYS");

    logs_tuning = level && strcasecmp(level, "INFO") == 0 && parts &&
                  strstr(parts, "TUNING") != NULL;
}

bool chooser_logs(void)
{
    return logs_tuning;
}

/* There from 2.24 on. */
void ncclResetDebugInit(void)
{
    int version;

    ncclGetVersion(&version);
    if (version >= 22400)
        chooser_begin();
}

void chooser_log(const struct operation *operation)
{
    struct chosen chosen = chooser_take(operation);
    const char *function = chooser_function(operation);
    size_t bytes = bytes_of(operation);
    int version;

    ncclGetVersion(&version);
    if (version < 22000 || operation->kind > OPERATION_REDUCE ||
        operation->comm->n == 1 || !logs_tuning ||
        (operation->comm->rank != 0 && !(chosen.is_symmetric && version < 22800)))
        return;
    if (chosen.is_symmetric)
        say("%s [Symmetric]: %zu Bytes -> Kernel %s_LL nchannels %d nthreads 512%s",
            function, bytes, function, chosen.channels,
            version < 22800 ? "" : " nWorks 1");
    else if (version >= 22400)
        say("%s: %zu Bytes -> Algo %s proto %s channel{Lo..Hi}={0..%d}", function, bytes,
            chooser_algorithm(chosen.algo), chooser_protocol(chosen.proto),
            chosen.channels - 1);
    else
        say("%s%s%zu Bytes -> Algo %d proto %d time %f", version < 22300 ? "" : function,
            version < 22300 ? "" : ": ", bytes, chosen.algo, chosen.proto,
            (double)chosen.time_us);
}
