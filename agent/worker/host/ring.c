/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - run the steps of a ring algorithm: receive, reduce, forward */
#include "agent/worker/host/ring.h"

#include <string.h>

struct cursor {
    size_t t, at; /* current step, and bytes of this step that have moved */
    struct ring_step step;
};

struct ring {
    struct backend_comm *comm;
    const struct backend_call *call;
    struct endpoint *next, *prev;
    ring_plan_fn *plan;
    const void *arg;
    size_t steps;
    size_t element;
    struct cursor out, in;
    size_t held; /* received bytes in `scratch`, not yet reduced */
};

static void seek(struct ring *ring, struct cursor *cursor, size_t t)
{
    memset(&cursor->step, 0, sizeof(cursor->step));
    cursor->t = t;
    cursor->at = 0;
    if (t < ring->steps)
        ring->plan(ring->arg, t, &cursor->step);
}

static size_t ready_bytes(const struct ring *ring)
{
    const struct cursor *out = &ring->out;

    if (!out->step.is_chained || ring->in.t >= out->t)
        return out->step.send_len;
    return ring->in.t + 1 == out->t ? ring->in.at : 0;
}

static int pump_out(struct ring *ring)
{
    struct cursor *out = &ring->out;
    int moved = 0;

    while (out->t < ring->steps) {
        if (out->at == out->step.send_len) {
            seek(ring, out, out->t + 1);
            moved = 1;
            continue;
        }
        struct flow flow = {ring->next, (char *)(uintptr_t)out->step.send,
                            ready_bytes(ring), out->at};
        int status = flow.done < flow.len ? links_push(ring->comm->links, &flow) : 0;
        if (status < 0)
            return -1;
        if (status == 0)
            break;
        out->at = flow.done;
        moved = 1;
    }
    return moved;
}

/* Reduce the received data with this rank's input. */
static void reduce_held(struct ring *ring, size_t count)
{
    const struct cursor *in = &ring->in;
    const struct ring_step *step = &in->step;
    const struct reduce_kernels *kernels = ring->comm->kernels;
    enum dtype type = ring->call->dtype;
    char *scratch = ring->comm->scratch, *to = step->recv + in->at;
    const char *own = step->own + in->at;

    if (ring->call->redop == REDOP_MULSUM) {
        host_scale(ring->comm, type, ring->comm->links->rank, to, own, count);
        if (step->is_raw)
            host_scale(ring->comm, type, ring->prev->rank, scratch, scratch, count);
        own = to;
    }
    kernels->reduce[type][ring->call->redop](to, own, scratch, count);
    if (step->is_complete && ring->call->redop == REDOP_AVG)
        kernels->divide[type](to, count, ring->comm->links->world_size);
}

/* Reduce each complete slice at once. */
static int pull_reduced(struct ring *ring)
{
    struct cursor *in = &ring->in;
    const struct ring_step *step = &in->step;
    size_t left = step->recv_len - in->at;
    char *scratch = ring->comm->scratch;
    struct flow flow = {ring->prev, scratch,
                        left < HOST_SLICE_BYTES ? left : HOST_SLICE_BYTES, ring->held};

    int status = links_pull(ring->comm->links, &flow);
    if (status <= 0)
        return status;
    ring->held = flow.done;
    if (ring->held < flow.len)
        return 1;
    reduce_held(ring, ring->held / ring->element);
    in->at += ring->held;
    ring->held = 0;
    return 1;
}

static int pull_plain(struct ring *ring)
{
    struct cursor *in = &ring->in;
    struct flow flow = {ring->prev, in->step.recv, in->step.recv_len, in->at};
    int status = links_pull(ring->comm->links, &flow);

    in->at = flow.done;
    return status;
}

static bool may_receive(const struct ring *ring)
{
    return ring->in.t < ring->steps && ring->in.t <= ring->out.t;
}

static int pump_in(struct ring *ring)
{
    struct cursor *in = &ring->in;

    if (!may_receive(ring))
        return 0;
    if (in->at == in->step.recv_len) {
        seek(ring, in, in->t + 1);
        return 1;
    }
    return in->step.own ? pull_reduced(ring) : pull_plain(ring);
}

static int wait_more(struct ring *ring, struct watch_idle *idle)
{
    bool can_send = ring->out.t < ring->steps && ready_bytes(ring) > ring->out.at;

    return links_rest(ring->comm->links, idle, may_receive(ring) ? ring->prev : NULL,
                      can_send ? ring->next : NULL);
}

int ring_run(struct backend_comm *comm, const struct backend_call *call,
             struct endpoint *next, struct endpoint *prev, ring_plan_fn *plan,
             const void *arg, size_t steps)
{
    struct ring ring = {.comm = comm,
                        .call = call,
                        .next = next,
                        .prev = prev,
                        .plan = plan,
                        .arg = arg,
                        .steps = steps,
                        .element = dtype_size(call->dtype)};
    struct watch_idle idle = {0};

    seek(&ring, &ring.out, 0);
    seek(&ring, &ring.in, 0);
    while (ring.out.t < steps || ring.in.t < steps) {
        int received = pump_in(&ring);
        int sent = received < 0 ? -1 : pump_out(&ring);
        if (sent < 0)
            return -1;
        if (sent || received)
            idle = (struct watch_idle){0};
        else if (wait_more(&ring, &idle))
            return -1;
    }
    return 0;
}
