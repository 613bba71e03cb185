/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - allocates memory, and ends the program if memory runs out */
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"

_Noreturn void memory_out(const char *what)
{
    log_error("out of memory for %s; the program exits", what);
    _exit(EXIT_FAILURE);
}

void *memory_zeroed(size_t count, size_t size, const char *what)
{
    void *memory = calloc(count, size);

    if (!memory)
        memory_out(what);
    return memory;
}

char *memory_text(const char *text, const char *what)
{
    char *copy = text ? strdup(text) : NULL;

    if (text && !copy)
        memory_out(what);
    return copy;
}

void *memory_resized(void *items, size_t n, size_t size, const char *what)
{
    items = realloc(items, n * size);
    if (!items)
        memory_out(what);
    return items;
}

void *memory_grown(void *items, size_t n, size_t *capacity, size_t size, const char *what)
{
    if (n < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : 16;
    return memory_resized(items, *capacity, size, what);
}
