/* summary_index.h - numbers for lines: which series and size a result belongs to */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_INDEX_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* No padding: keys are compared as bytes. */
struct summary_line_key {
    int32_t combination, case_no, cycle, key, rank, reserved;
    int64_t size;
};

_Static_assert(sizeof(struct summary_line_key) == 32, "compared as bytes");

struct summary_index;

/* Items that begin with their key, `stride` bytes apart. */
struct summary_keys {
    const void *items;
    size_t stride, n;
};

struct summary_index *summary_index_create(void);
void summary_index_destroy(struct summary_index *index);

/* The number of the item that has the key; keys->n, at most UINT32_MAX - 1, after noting
 * it for the item that the caller adds next. */
size_t summary_index_find(struct summary_index *index, const struct summary_keys *keys,
                          const struct summary_line_key *key);

#endif
