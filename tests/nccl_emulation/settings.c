/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - what the emulated libraries are told to be, and to do wrong */
#include "tests/nccl_emulation/settings.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "@R" of this process, or none. */
static bool is_for_us(const char **at)
{
    const char *rank = getenv("RANK");
    char *end;

    if (**at != '@')
        return true;
    long wanted = strtol(*at + 1, &end, 10);
    *at = end;
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
