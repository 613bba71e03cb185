/* summary_index.c - a hash table with open addressing, half empty, of numbers alone: it
 * is asked a million times in a summary, so it should stay in the cache */
#include "server/summary/summary_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

#define SLOTS_AT_FIRST 1024 /* a power of two */

struct slot {
    uint32_t hash;
    uint32_t number; /* plus one; 0: free */
};

struct summary_index {
    struct slot *slots;
    size_t n_slots, used;
    size_t guess; /* cases go through their rows in the same order */
};

struct summary_index *summary_index_create(void)
{
    struct summary_index *index = memory_zeroed(1, sizeof(*index), "a summary");

    index->n_slots = SLOTS_AT_FIRST;
    index->slots = memory_zeroed(index->n_slots, sizeof(*index->slots), "a summary");
    return index;
}

void summary_index_destroy(struct summary_index *index)
{
    if (!index)
        return;
    free(index->slots);
    free(index);
}

static uint32_t hash(const struct summary_line_key *key)
{
    uint64_t words[4], value = 0;

    memcpy(words, key, sizeof(words));
    for (size_t i = 0; i < 4; i++) {
        value = (value ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        value ^= value >> 29;
    }
    return (uint32_t)(value ^ value >> 32);
}

static bool has_key(const struct summary_keys *keys, size_t number,
                    const struct summary_line_key *key)
{
    const char *item = (const char *)keys->items + number * keys->stride;

    return number < keys->n && memcmp(item, key, sizeof(*key)) == 0;
}

static void put(struct slot *slots, size_t n, struct slot slot)
{
    size_t at = slot.hash & (n - 1);

    while (slots[at].number)
        at = (at + 1) & (n - 1);
    slots[at] = slot;
}

static void grow(struct summary_index *index)
{
    size_t n = index->n_slots * 2;
    struct slot *slots = memory_zeroed(n, sizeof(*slots), "a summary");

    for (size_t i = 0; i < index->n_slots; i++)
        if (index->slots[i].number)
            put(slots, n, index->slots[i]);
    free(index->slots);
    index->slots = slots;
    index->n_slots = n;
}

size_t summary_index_find(struct summary_index *index, const struct summary_keys *keys,
                          const struct summary_line_key *key)
{
    struct slot wanted = {.number = (uint32_t)keys->n + 1};
    size_t mask = index->n_slots - 1;

    if (has_key(keys, index->guess, key))
        return index->guess++;
    wanted.hash = hash(key);
    for (size_t at = wanted.hash & mask; index->slots[at].number; at = (at + 1) & mask) {
        size_t number = index->slots[at].number - 1;

        if (index->slots[at].hash == wanted.hash && has_key(keys, number, key)) {
            index->guess = number + 1;
            return number;
        }
    }
    if (index->used * 2 >= index->n_slots)
        grow(index);
    put(index->slots, index->n_slots, wanted);
    index->used++;
    index->guess = keys->n + 1;
    return keys->n;
}
