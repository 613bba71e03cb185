/* SPDX-License-Identifier: Apache-2.0 */
/* wake.c - requests the scheduler's next tick, with or without a queue check */
#include "server/runs/wake.h"

#include <stdlib.h>

#include "common/base/memory.h"

struct wake {
    uv_idle_t soon;
    bool is_queue_changed, is_closed;
    void (*tick)(void *arg);
    void (*closed)(void *arg);
    void *arg;
};

struct wake *wake_create(uv_loop_t *loop, void (*tick)(void *arg), void *arg)
{
    struct wake *wake = memory_zeroed(1, sizeof(*wake), "the scheduler");

    wake->tick = tick;
    wake->arg = arg;
    wake->is_queue_changed = true;
    uv_idle_init(loop, &wake->soon);
    wake->soon.data = wake;
    return wake;
}

static void on_closed(uv_handle_t *handle)
{
    struct wake *wake = handle->data;

    wake->closed(wake->arg);
}

void wake_close(struct wake *wake, void (*closed)(void *arg))
{
    wake->is_closed = true;
    wake->closed = closed;
    uv_close((uv_handle_t *)&wake->soon, on_closed);
}

void wake_free(struct wake *wake)
{
    free(wake);
}

static void on_soon(uv_idle_t *idle)
{
    struct wake *wake = idle->data;

    uv_idle_stop(idle);
    wake->tick(wake->arg);
}

void wake_soon(struct wake *wake)
{
    if (!wake->is_closed)
        uv_idle_start(&wake->soon, on_soon);
}

void wake_queue(struct wake *wake)
{
    wake->is_queue_changed = true;
    wake_soon(wake);
}

bool wake_take_queue(struct wake *wake)
{
    bool is_changed = wake->is_queue_changed;

    wake->is_queue_changed = false;
    return is_changed;
}
