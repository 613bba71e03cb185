/* SPDX-License-Identifier: Apache-2.0 */
/* timed_data.c - the contents of the buffers while calls are timed */
#include "agent/worker/bench/timed_data.h"

#include <stddef.h>
#include <stdlib.h>

#include "common/base/memory.h"

#define BLOCK_BYTES 65536

struct timed_data {
    bool is_there;
    enum dtype type;
    int redop;
    _Alignas(max_align_t) char block[BLOCK_BYTES]; /* aligned for every type */
};

struct timed_data *timed_data_create(void)
{
    return memory_zeroed(1, sizeof(struct timed_data), "data of timed calls");
}

void timed_data_destroy(struct timed_data *data)
{
    free(data);
}

static int put(const struct bench *bench, char *to, size_t bytes, struct error *err)
{
    return bench_fill(bench, to, bench->data->block, BLOCK_BYTES, bytes, err);
}

static void make_block(struct bench *bench, enum dtype type, int redop)
{
    struct pattern *pattern =
        pattern_create(type, redop, bench_group_size(bench), bench->file->seed);

    pattern_input(pattern, bench_place(bench), 0, BLOCK_BYTES / dtype_size(type),
                  bench->data->block);
    pattern_destroy(pattern);
}

int timed_data_put(struct bench *bench, enum dtype type, int redop, struct error *err)
{
    struct timed_data *data = bench->data;
    size_t bytes = bench->buffer_bytes + bench->memory.margin_bytes;

    data->is_there = false;
    make_block(bench, type, redop);
    if (put(bench, bench->send, bytes, err) || put(bench, bench->recv, bytes, err))
        return -1;
    data->is_there = true;
    data->type = type;
    data->redop = redop;
    return 0;
}

/* Reuse data that a check of the same operation left in the buffers. Products of data
 * made for another operation may be denormal numbers, which slow the processor. */
static int need(struct bench *bench, enum dtype type, int redop, struct error *err)
{
    const struct timed_data *data = bench->data;

    return data->is_there && data->type == type && data->redop == redop
               ? 0
               : timed_data_put(bench, type, redop, err);
}

int timed_data_begin(struct bench *bench, const struct bench_row *row, struct error *err)
{
    if (need(bench, row->call.dtype, row->call.redop, err))
        return -1;
    return row->row.in_place && !row->is_idle
               ? put(bench, row->recv_base, row->layout.size_bytes, err)
               : 0;
}
