/* table.c - what the emulated NCCL 2.18 and 2.19 print of what they choose by: two blocks
 * of three algorithms, a line per function, as in their src/graph/tuning.cc. The figures
 * are made up. */
#include "tests/nccl_emulation/table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nccl_emulation/chooser.h"
#include "tests/nccl_emulation/say.h"
#include "tests/nccl_emulation/settings.h"

enum { NVLS = 4 };
enum { FUNCTIONS = 5, ALGORITHMS = 6, PROTOCOLS = 3, BLOCK = 3 };

struct cost {
    double us, gbs;
};

#define NONE                                                                             \
    {                                                                                    \
        {0, 0}, {0, 0},                                                                  \
        {                                                                                \
            0, 0                                                                         \
        }                                                                                \
    }
#define RING_ONLY(...)                                                                   \
    {                                                                                    \
        NONE, {__VA_ARGS__}, NONE, NONE, NONE, NONE                                      \
    }

static const struct cost costs[FUNCTIONS][ALGORITHMS][PROTOCOLS] = {
    RING_ONLY({7.44, 23.12}, {15.13, 80.21}, {12.31, 95.42}),
    RING_ONLY({7.44, 17.34}, {15.13, 80.21}, {12.31, 95.42}),
    RING_ONLY({8.12, 46.24}, {15.32, 160.42}, {33.42, 190.84}),
    RING_ONLY({8.12, 46.24}, {15.32, 160.42}, {33.42, 190.84}),
    {{{7.23, 18.42}, {15.61, 61.33}, {21.48, 58.71}},
     {{9.37, 21.94}, {16.82, 74.62}, {24.93, 88.24}},
     NONE,
     NONE,
     {{0, 0}, {0, 0}, {23.04, 140.33}},
     NONE},
};

static void say_head(int block)
{
    static const char *const names[ALGORITHMS] = {"Tree",         "Ring", "CollNetDirect",
                                                  "CollNetChain", "NVLS", "NVLSTree"};
    static const char *const protocols[PROTOCOLS] = {"LL", "LL128", "Simple"};
    static const int threads[PROTOCOLS] = {512, 640, 512};
    char line[3][256] = {"  Algorithm   |", "  Protocol    |", " Max NThreads |"};
    size_t at[3] = {15, 15, 15};

    for (int i = 0; i < BLOCK * PROTOCOLS; i++) {
        const char *name = i % PROTOCOLS == 1 ? names[block * BLOCK + i / PROTOCOLS] : "";
        const char *end = i % PROTOCOLS == PROTOCOLS - 1 ? " |" : "  ";
        at[0] += (size_t)snprintf(line[0] + at[0], sizeof(line[0]) - at[0], " %14s%s",
                                  name, end);
        at[1] += (size_t)snprintf(line[1] + at[1], sizeof(line[1]) - at[1], " %14s |",
                                  protocols[i % PROTOCOLS]);
        at[2] += (size_t)snprintf(line[2] + at[2], sizeof(line[2]) - at[2], " %14d |",
                                  threads[i % PROTOCOLS]);
    }
    for (int i = 0; i < 3; i++)
        say("%s", line[i]);
}

/* Over several hosts the switch needs CollNet. */
static bool is_left_out(int algo)
{
    const char *local = getenv("LOCAL_WORLD_SIZE"), *all = getenv("WORLD_SIZE");

    return algo >= NVLS && local && all && strcmp(local, all) != 0;
}

static void say_block(int block)
{
    static const char *const functions[FUNCTIONS] = {"Broadcast", "Reduce", "AllGather",
                                                     "ReduceScatter", "AllReduce"};
    char line[256];

    say_head(block);
    for (int i = 0; i < FUNCTIONS; i++) {
        size_t at = (size_t)snprintf(line, sizeof(line), "%13s |", functions[i]);
        for (int j = 0; j < BLOCK * PROTOCOLS; j++) {
            int algo = block * BLOCK + j / PROTOCOLS;
            const struct cost *cost = &costs[i][algo][j % PROTOCOLS];
            at += (size_t)snprintf(line + at, sizeof(line) - at, "%8.1f/%6.1f |",
                                   cost->us, is_left_out(algo) ? 0.0 : cost->gbs);
        }
        say("%s", line);
    }
}

void table_say(int rank, int n)
{
    if (emulation_setting("tuner", 0))
        say("Using tuner plugin: 'emulated'");
    for (int block = 0; block < ALGORITHMS / BLOCK && rank == 0 && chooser_logs();
         block++)
        say_block(block);
    say("threadThresholds 8/8/64 | %d/8/64 | 512 | 512", 8 * n);
    say("16 coll channels, 8 nvls channels, 4 p2p channels, 2 p2p channels per peer");
}
