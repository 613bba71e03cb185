/* SPDX-License-Identifier: Apache-2.0 */
/* say.c - the log of the emulated NCCL with NCCL_DEBUG=INFO. Like NCCL (src/debug.cc), it
 * writes to stdout and never flushes; the worker must do so. */
#include "tests/nccl_emulation/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/nccl_emulation/nccl.h"
#include "tests/nccl_emulation/settings.h"

void say(const char *format, ...)
{
    const char *level = getenv("NCCL_DEBUG");
    va_list args;

    if (!level || strcmp(level, "INFO") != 0)
        return;
    printf("emulated:%d:%d [0] NCCL INFO ", (int)getpid(), (int)getpid());
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

static void say_settings(void)
{
    static const char *const names[] = {"NCCL_ALGO", "NCCL_PROTO", "NCCL_SOCKET_IFNAME"};
    const char *hca = getenv("NCCL_IB_HCA");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            say("%s set by environment to %s", names[i], getenv(names[i]));
    if (hca)
        say("NCCL_IB_HCA set to %s", hca);
}

/* The setting `ib` defines the HCAs, unless the user names others. */
static long hcas(void)
{
    const char *hca = getenv("NCCL_IB_HCA");

    return hca && !strstr(hca, "mlx5_") ? 0 : emulation_setting("ib", 0);
}

void say_start(int rank, int n)
{
    say("cudaDriverVersion 13000");
    say_settings();
    if (hcas() == 0) {
        say("NET/IB : No device found.");
        say("NET/Socket : Using [0]emu0:10.0.0.1<0>");
    } else if (hcas() == 1) {
        say("NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB emu0:10.0.0.1<0>");
    } else {
        say("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB emu0:10.0.0.1<0>");
    }
    if (hcas() > 0 && !emulation_setting("gdr", 0))
        say("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'");
    say("Using network %s", hcas() > 0 ? "IB" : "Socket");
    say("ncclCommInitRankConfig comm 0x1 rank %d nranks %d cudaDev 0 nvmlDev 0 "
        "busId 1000 commId 0x%x - Init START",
        rank, n, n);
}

static void say_way(int rank, int other, bool is_received, int connection)
{
    const char *local = getenv("LOCAL_WORLD_SIZE");
    int per_node = local && atoi(local) > 0 ? atoi(local) : 1;
    int from = is_received ? other : rank, to = is_received ? rank : other;

    if (rank / per_node != other / per_node)
        say("Channel 00/%d : %d[0] -> %d[0] [%s] via NET/%s/%ld%s", connection, from, to,
            is_received ? "receive" : "send", hcas() > 0 ? "IB" : "Socket",
            hcas() > 1 ? 1L : 0L,
            hcas() > 0 && emulation_setting("gdr", 0) ? "/GDRDMA" : "");
    else if (!is_received)
        say("Channel 00/%d : %d[0] -> %d[0] via P2P/CUMEM", connection, from, to);
}

void say_peer(int rank, int peer)
{
    say_way(rank, peer, true, 1);
    say_way(rank, peer, false, 1);
}

void say_ways(int rank, int n)
{
    const char *local = getenv("LOCAL_WORLD_SIZE");
    int per_node = local && atoi(local) > 0 ? atoi(local) : 1;

    say("1 coll channels, 1 collnet channels, 0 nvls channels, 1 p2p channels, "
        "1 p2p channels per peer");
    say("comm 0x1 rank %d nRanks %d nNodes %d localRanks %d localRank %d MNNVL 0", rank,
        n, (n + per_node - 1) / per_node, n < per_node ? n : per_node, rank % per_node);
    if (n > 1) {
        say_way(rank, (rank + n - 1) % n, true, 0);
        say_way(rank, (rank + 1) % n, false, 0);
    }
    say("Connected all rings, use ring PXN 0 GDR %ld", emulation_setting("gdr", 0));
    say("ncclCommInitRankConfig comm 0x1 rank %d nranks %d cudaDev 0 nvmlDev 0 "
        "busId 1000 commId 0x%x - Init COMPLETE",
        rank, n, n);
}
