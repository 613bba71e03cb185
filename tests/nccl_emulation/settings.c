/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - properties and faults of the emulated libraries */
#include "tests/nccl_emulation/settings.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A fault of a rank that does not exist would silently have no effect. Probes have no
 * ranks. */
static void check_rank(long rank)
{
    const char *size = getenv("WORLD_SIZE");

    if (size && (rank < 0 || rank >= atol(size))) {
        fprintf(stderr,
                "RINGBENCH_EMULATION=%s: rank %ld does not exist; WORLD_SIZE is %s\n",
                getenv("RINGBENCH_EMULATION"), rank, size);
        _exit(2);
    }
}

/* True without "@RANK", or if RANK is this process's. */
static bool is_for_us(const char **at)
{
    const char *rank = getenv("RANK");
    char *end;

    if (**at != '@')
        return true;
    long wanted = strtol(*at + 1, &end, 10);
    *at = end;
    check_rank(wanted);
    return rank && atol(rank) == wanted;
}

static bool read_item(const char *item, const char *name, long *value)
{
    size_t len = strlen(name);
    const char *at = item + len;

    if (strncmp(item, name, len) != 0 || !is_for_us(&at) || (*at && !strchr("=,", *at)))
        return false;
    *value = *at == '=' ? strtol(at + 1, NULL, 10) : 1;
    return true;
}

long emulation_setting(const char *name, long absent)
{
    const char *item = getenv("RINGBENCH_EMULATION");
    long value = absent;

    while (item && *item) {
        read_item(item, name, &value);
        item = strchr(item, ',');
        item = item ? item + 1 : NULL;
    }
    return value;
}

void emulation_mark(void)
{
    const char *mark = getenv("RINGBENCH_EMULATION_MARK"), *rank = getenv("RANK");
    char path[4096];

    if (mark) {
        snprintf(path, sizeof(path), "%s.%s", mark, rank ? rank : "");
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
}

_Noreturn void emulation_hang(void)
{
    emulation_mark();
    for (;;)
        pause();
}

void emulation_may_hang(const char *name, struct emulation_calls *calls)
{
    long number = atomic_fetch_add(&calls->n, 1) + 1;
    long hangs = atomic_load(&calls->hangs);

    if (hangs == 0) {
        hangs = emulation_setting(name, 0) + 1;
        atomic_store(&calls->hangs, hangs);
    }
    if (number == hangs - 1)
        emulation_hang();
}
