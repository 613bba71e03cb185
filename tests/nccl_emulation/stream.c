/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - a stream of the emulated CUDA runtime */
#include "tests/nccl_emulation/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/nccl_emulation/cudart.h"
#include "tests/nccl_emulation/settings.h"

struct item {
    const struct emulated_work *work;
    void *arg;
    struct item *next;
};

/* A queue of work. */
struct list {
    struct item *first, **end;
};

struct CUgraph_st {
    struct list items;
};

struct CUgraphExec_st {
    struct list items;
};

struct CUstream_st {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, has_room;
    struct list items;
    int n_items;
    long begun, faulty; /* faulty: number of the operation that fails; 0: none */
    int error, device;
    bool is_busy, is_ending;
    cuda_graph captured; /* the graph being captured; NULL: none */
    bool is_spoiled;     /* the capture is invalid */
};

static atomic_int n_graphs; /* instantiated graphs */
static atomic_int n_begun;  /* unfinished operations of all streams */

int emulated_graphs(void)
{
    return atomic_load(&n_graphs);
}

int emulated_begun(void)
{
    return atomic_load(&n_begun);
}

int emulated_stream_device(cuda_stream stream)
{
    return stream ? stream->device : emulated_device();
}

/* The stream that this thread is capturing. */
static _Thread_local cuda_stream capturing;

static void list_init(struct list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

static void release_item(struct item *item)
{
    item->work->release(item->arg);
    free(item);
}

static void list_clear(struct list *list)
{
    while (list->first) {
        struct item *item = list->first;
        list->first = item->next;
        release_item(item);
    }
    list_init(list);
}

/* Steals arg, also on failure. */
static int list_add(struct list *list, const struct emulated_work *work, void *arg)
{
    struct item *item = arg ? calloc(1, sizeof(*item)) : NULL;

    if (!item) {
        if (arg)
            work->release(arg);
        return CUDA_ERROR_MEMORY_CODE;
    }
    *item = (struct item){.work = work, .arg = arg};
    *list->end = item;
    list->end = &item->next;
    return CUDA_SUCCESS_CODE;
}

static void do_first(struct CUstream_st *stream)
{
    struct item *item = stream->items.first;

    stream->items.first = item->next;
    stream->items.end = item->next ? stream->items.end : &stream->items.first;
    stream->is_busy = true;
    stream->n_items--;
    pthread_cond_broadcast(&stream->has_room);
    if (++stream->begun == stream->faulty)
        stream->error = CUDA_ERROR_LAUNCH_FAILURE_CODE;
    bool is_broken = stream->error != 0;
    pthread_mutex_unlock(&stream->lock);
    if (!is_broken)
        item->work->run(item->arg);
    release_item(item);
    pthread_mutex_lock(&stream->lock);
    stream->is_busy = false;
    atomic_fetch_sub(&n_begun, 1);
}

static void *serve(void *arg)
{
    struct CUstream_st *stream = arg;

    pthread_mutex_lock(&stream->lock);
    while (stream->items.first || !stream->is_ending)
        if (stream->items.first)
            do_first(stream);
        else
            pthread_cond_wait(&stream->wake, &stream->lock);
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

int emulated_stream_create(cuda_stream *out)
{
    struct CUstream_st *stream = calloc(1, sizeof(*stream));

    if (!stream)
        return CUDA_ERROR_MEMORY_CODE;
    list_init(&stream->items);
    stream->device = emulated_device();
    stream->faulty = emulation_setting("gpu_fault", 0);
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->wake, NULL);
    pthread_cond_init(&stream->has_room, NULL);
    if (pthread_create(&stream->thread, NULL, serve, stream)) {
        free(stream);
        return CUDA_ERROR_MEMORY_CODE;
    }
    *out = stream;
    return CUDA_SUCCESS_CODE;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cuda_stream default_stream;

static void create_default(void)
{
    emulated_stream_create(&default_stream);
}

static cuda_stream resolve(cuda_stream stream)
{
    if (!stream)
        pthread_once(&once, create_default);
    return stream ? stream : default_stream;
}

void emulated_stream_destroy(cuda_stream stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->is_ending = true;
    pthread_cond_signal(&stream->wake);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->thread, NULL);
    pthread_cond_destroy(&stream->wake);
    pthread_cond_destroy(&stream->has_room);
    pthread_mutex_destroy(&stream->lock);
    cudaGraphDestroy(stream->captured);
    free(stream);
}

static void wait_for_room(cuda_stream stream)
{
    while (stream->n_items >= EMULATED_QUEUE_MAX)
        pthread_cond_wait(&stream->has_room, &stream->lock);
}

int emulated_stream_enqueue(cuda_stream stream, const struct emulated_work *work,
                            void *arg)
{
    int code;

    stream = resolve(stream);
    pthread_mutex_lock(&stream->lock);
    if (stream->is_spoiled) {
        work->release(arg);
        code = CUDA_ERROR_CAPTURE_INVALIDATED_CODE;
    } else {
        bool is_begun = !stream->captured;
        if (is_begun)
            wait_for_room(stream);
        code = list_add(is_begun ? &stream->items : &stream->captured->items, work, arg);
        stream->n_items += is_begun && !code;
        atomic_fetch_add(&n_begun, is_begun && !code);
    }
    pthread_cond_signal(&stream->wake);
    pthread_mutex_unlock(&stream->lock);
    return code;
}

int emulated_stream_state(cuda_stream stream)
{
    int state = CUDA_SUCCESS_CODE;

    stream = resolve(stream);
    pthread_mutex_lock(&stream->lock);
    if (stream->captured) {
        stream->is_spoiled = true;
        state = CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE;
    } else if (stream->error) {
        state = stream->error;
    } else if (stream->items.first || stream->is_busy) {
        state = CUDA_ERROR_NOT_READY_CODE;
    }
    pthread_mutex_unlock(&stream->lock);
    return state;
}

int emulated_capture_forbids(void)
{
    if (!capturing)
        return CUDA_SUCCESS_CODE;
    pthread_mutex_lock(&capturing->lock);
    capturing->is_spoiled = true;
    pthread_mutex_unlock(&capturing->lock);
    return CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE;
}

/* ---- capture, and graphs ---- */

int cudaStreamBeginCapture(cuda_stream stream, int mode)
{
    cuda_graph graph;
    int code = CUDA_SUCCESS_CODE;

    if (!stream)
        return CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE;
    if (mode != CUDA_CAPTURE_THREAD_LOCAL_MODE)
        return CUDA_ERROR_INVALID_VALUE_CODE;
    graph = calloc(1, sizeof(*graph));
    if (!graph)
        return CUDA_ERROR_MEMORY_CODE;
    list_init(&graph->items);
    pthread_mutex_lock(&stream->lock);
    if (stream->captured) {
        code = CUDA_ERROR_ILLEGAL_STATE_CODE;
    } else {
        stream->captured = graph;
        capturing = stream;
        graph = NULL;
    }
    pthread_mutex_unlock(&stream->lock);
    cudaGraphDestroy(graph);
    return code;
}

int cudaStreamEndCapture(cuda_stream stream, cuda_graph *out)
{
    bool is_spoiled;
    cuda_graph graph;

    *out = NULL;
    if (!stream || stream != capturing)
        return CUDA_ERROR_ILLEGAL_STATE_CODE;
    pthread_mutex_lock(&stream->lock);
    graph = stream->captured;
    is_spoiled = stream->is_spoiled;
    stream->captured = NULL;
    stream->is_spoiled = false;
    capturing = NULL;
    pthread_mutex_unlock(&stream->lock);
    if (is_spoiled) {
        cudaGraphDestroy(graph);
        return CUDA_ERROR_CAPTURE_INVALIDATED_CODE;
    }
    *out = graph;
    return CUDA_SUCCESS_CODE;
}

/* *n is increased by the number of copied operations. */
static int copy_items(const struct list *from, struct list *to, int *n)
{
    int code = CUDA_SUCCESS_CODE;

    for (const struct item *item = from->first; item && !code; item = item->next) {
        code = list_add(to, item->work, item->work->copy(item->arg));
        *n += !code;
    }
    return code;
}

int cudaGraphInstantiateWithFlags(cuda_graph_exec *out, cuda_graph graph,
                                  unsigned long long flags)
{
    cuda_graph_exec exec = graph && flags == 0 ? calloc(1, sizeof(*exec)) : NULL;
    int recorded = 0;

    if (!exec)
        return CUDA_ERROR_INVALID_VALUE_CODE;
    list_init(&exec->items);
    atomic_fetch_add(&n_graphs, 1);
    if (copy_items(&graph->items, &exec->items, &recorded)) {
        cudaGraphExecDestroy(exec);
        return CUDA_ERROR_MEMORY_CODE;
    }
    *out = exec;
    return CUDA_SUCCESS_CODE;
}

int cudaGraphLaunch(cuda_graph_exec exec, cuda_stream stream)
{
    int code = CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE, n = 0;

    stream = resolve(stream);
    pthread_mutex_lock(&stream->lock);
    if (!stream->captured) {
        wait_for_room(stream);
        code = copy_items(&exec->items, &stream->items, &n);
    }
    stream->n_items += n;
    atomic_fetch_add(&n_begun, n);
    pthread_cond_signal(&stream->wake);
    pthread_mutex_unlock(&stream->lock);
    return code;
}

int cudaGraphExecDestroy(cuda_graph_exec exec)
{
    if (exec) {
        list_clear(&exec->items);
        atomic_fetch_sub(&n_graphs, 1);
    }
    free(exec);
    return CUDA_SUCCESS_CODE;
}

int cudaGraphDestroy(cuda_graph graph)
{
    if (graph)
        list_clear(&graph->items);
    free(graph);
    return CUDA_SUCCESS_CODE;
}
