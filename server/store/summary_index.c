/* summary_index.c - a hash table with open addressing, half empty: it is asked a million
 * times in a summary */
#include "server/store/summary_index.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_AT_FIRST 1024 /* a power of two */

struct slot {
    struct summary_line_key key;
    size_t number; /* plus one; 0: free */
};

struct summary_index {
    struct slot *slots;
    size_t n_slots, used;
};

struct summary_index *summary_index_create(void)
{
    struct summary_index *index = calloc(1, sizeof(*index));

    if (!index)
        return NULL;
    index->n_slots = SLOTS_AT_FIRST;
    index->slots = calloc(index->n_slots, sizeof(*index->slots));
    if (!index->slots) {
        free(index);
        return NULL;
    }
    return index;
}

void summary_index_destroy(struct summary_index *index)
{
    if (!index)
        return;
    free(index->slots);
    free(index);
}

static size_t hash(const struct summary_line_key *key)
{
    uint64_t words[4], value = 0;

    memcpy(words, key, sizeof(words));
    for (size_t i = 0; i < 4; i++) {
        value = (value ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        value ^= value >> 29;
    }
    return (size_t)value;
}

static struct slot *slot_of(struct slot *slots, size_t n,
                            const struct summary_line_key *key)
{
    size_t at = hash(key) & (n - 1);

    while (slots[at].number && memcmp(&slots[at].key, key, sizeof(*key)) != 0)
        at = (at + 1) & (n - 1);
    return &slots[at];
}

static int grow(struct summary_index *index)
{
    size_t n = index->n_slots * 2;
    struct slot *slots = calloc(n, sizeof(*slots));

    if (!slots)
        return -1;
    for (size_t i = 0; i < index->n_slots; i++) {
        if (index->slots[i].number)
            *slot_of(slots, n, &index->slots[i].key) = index->slots[i];
    }
    free(index->slots);
    index->slots = slots;
    index->n_slots = n;
    return 0;
}

size_t summary_index_find(struct summary_index *index, const struct summary_line_key *key,
                          size_t next)
{
    struct slot *slot = slot_of(index->slots, index->n_slots, key);

    if (slot->number)
        return slot->number - 1;
    if (index->used * 2 >= index->n_slots) {
        if (grow(index))
            return SIZE_MAX;
        slot = slot_of(index->slots, index->n_slots, key);
    }
    slot->key = *key;
    slot->number = next + 1;
    index->used++;
    return next;
}
