/* stream.c - a stream of the emulated CUDA runtime */
#include "tests/nccl_emulation/stream.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/nccl_emulation/settings.h"

struct work {
    emulated_work_fn *run;
    void *arg;
    struct work *next;
};

struct CUstream_st {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct work *first, **end;
    long begun, faulty; /* the number of the operation that fails; 0: none */
    int error;
    bool is_busy, is_ending;
};

static void do_work(struct CUstream_st *stream, struct work *work)
{
    stream->first = work->next;
    stream->end = stream->first ? stream->end : &stream->first;
    stream->is_busy = true;
    if (++stream->begun == stream->faulty) {
        stream->error = CUDA_ERROR_LAUNCH_FAILURE_CODE;
    }
    bool is_broken = stream->error != 0;
    pthread_mutex_unlock(&stream->lock);
    if (!is_broken) {
        work->run(work->arg);
    }
    free(work->arg);
    free(work);
    pthread_mutex_lock(&stream->lock);
    stream->is_busy = false;
}

static void *serve(void *arg)
{
    struct CUstream_st *stream = arg;

    pthread_mutex_lock(&stream->lock);
    while (stream->first || !stream->is_ending) {
        if (stream->first) {
            do_work(stream, stream->first);
        } else {
            pthread_cond_wait(&stream->wake, &stream->lock);
        }
    }
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

int emulated_stream_create(cuda_stream *out)
{
    struct CUstream_st *stream = calloc(1, sizeof(*stream));

    if (!stream) {
        return CUDA_ERROR_MEMORY_CODE;
    }
    stream->end = &stream->first;
    stream->faulty = emulation_setting("gpu_fault", 0);
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->wake, NULL);
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
    if (!stream) {
        pthread_once(&once, create_default);
    }
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
    pthread_mutex_destroy(&stream->lock);
    free(stream);
}

int emulated_stream_enqueue(cuda_stream stream, emulated_work_fn *run, void *arg)
{
    struct work *work = calloc(1, sizeof(*work));

    if (!work) {
        free(arg);
        return CUDA_ERROR_MEMORY_CODE;
    }
    *work = (struct work){.run = run, .arg = arg};
    stream = resolve(stream);
    pthread_mutex_lock(&stream->lock);
    *stream->end = work;
    stream->end = &work->next;
    pthread_cond_signal(&stream->wake);
    pthread_mutex_unlock(&stream->lock);
    return CUDA_SUCCESS_CODE;
}

int emulated_stream_state(cuda_stream stream)
{
    int state = CUDA_SUCCESS_CODE;

    stream = resolve(stream);
    pthread_mutex_lock(&stream->lock);
    if (stream->error) {
        state = stream->error;
    } else if (stream->first || stream->is_busy) {
        state = CUDA_ERROR_NOT_READY_CODE;
    }
    pthread_mutex_unlock(&stream->lock);
    return state;
}
