/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c - print the stacks of all threads of this process on SIGUSR2 */
#include "agent/worker/base/stacks.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "agent/worker/base/symbols.h"
#include "agent/worker/base/thread.h"
#include "common/base/clock.h"

#define ANSWER_MS 1000 /* limit for a thread to handle the signal */
#define LINE_BYTES 256

enum answer_state {
    ANSWER_NONE,
    ANSWER_ASKED,
    ANSWER_COMING, /* the thread is writing its frames */
    ANSWER_HERE
};

struct answer {
    atomic_int state, tid;
    uintptr_t at; /* address of the interrupted instruction; 0: not known */
    int n;
    void *frames[STACKS_FRAMES_MAX];
};

/* Global, because a signal handler receives no user argument. */
static struct {
    sem_t requests;
    struct answer answers[STACKS_THREADS_MAX];
} stacks;

int stacks_signal(void)
{
    return SIGRTMIN + 7;
}

static void on_request(int signum)
{
    int saved = errno;

    (void)signum;
    sem_post(&stacks.requests);
    errno = saved;
}

static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

static void on_query(int signum, siginfo_t *info, void *context)
{
    int saved = errno, tid = gettid();

    (void)signum;
    (void)info;
    for (size_t i = 0; i < STACKS_THREADS_MAX; i++) {
        struct answer *answer = &stacks.answers[i];
        int asked = ANSWER_ASKED;

        if (atomic_load(&answer->tid) == tid &&
            atomic_compare_exchange_strong(&answer->state, &asked, ANSWER_COMING)) {
            answer->at = interrupted_at(context);
            answer->n = backtrace(answer->frames, STACKS_FRAMES_MAX);
            atomic_store(&answer->state, ANSWER_HERE);
            break;
        }
    }
    errno = saved;
}

/* Write a line with a single call, so that other threads' output cannot split it. */
__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    size_t len = (size_t)snprintf(line, sizeof(line), "stack: ");

    va_start(args, format);
    vsnprintf(line + len, sizeof(line) - len - 1, format, args);
    va_end(args);
    len = strlen(line);
    line[len] = '\n';
    if (write(STDERR_FILENO, line, len + 1) < 0)
        return; /* a failed write cannot be reported anywhere else */
}

/* The first line of a thread's file in /proc; "" if there is none. */
static void read_of_thread(int tid, const char *file, char *out, size_t size)
{
    char path[64];
    ssize_t n = -1;

    snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        n = read(fd, out, size - 1);
        close(fd);
    }
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

static char state_of(int tid)
{
    char stat[128];

    read_of_thread(tid, "stat", stat, sizeof(stat));
    const char *end = strrchr(stat, ')');

    return end && end[1] ? end[2] : '?';
}

/* ---- Query the threads ---- */

/* Return an unused entry. An entry that a thread may still fill for an earlier request is
 * in use. */
static struct answer *free_answer(void)
{
    for (size_t i = 0; i < STACKS_THREADS_MAX; i++)
        if (atomic_load(&stacks.answers[i].state) == ANSWER_NONE)
            return &stacks.answers[i];
    return NULL;
}

static void query(int tid)
{
    struct answer *answer = free_answer();

    if (!answer)
        return;
    atomic_store(&answer->tid, tid);
    atomic_store(&answer->state, ANSWER_ASKED);
    if (tgkill(getpid(), tid, stacks_signal()))
        atomic_store(&answer->state, ANSWER_NONE); /* the thread has just ended */
}

/* Returns the number of threads, without the caller. */
static size_t query_all(void)
{
    /* getdents64 instead of readdir, which allocates memory. */
    _Alignas(struct dirent64) char entries[2048];
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t threads = 0;
    ssize_t len;

    while (fd >= 0 && (len = getdents64(fd, entries, sizeof(entries))) > 0) {
        for (ssize_t at = 0; at < len;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            int tid = (int)strtol(entry->d_name, NULL, 10);

            at += entry->d_reclen;
            if (tid <= 0 || tid == gettid())
                continue;
            threads++;
            query(tid);
        }
    }
    if (fd >= 0)
        close(fd);
    return threads;
}

static bool any_asked(void)
{
    for (size_t i = 0; i < STACKS_THREADS_MAX; i++) {
        int state = atomic_load(&stacks.answers[i].state);

        if (state == ANSWER_ASKED || state == ANSWER_COMING)
            return true;
    }
    return false;
}

static void await_answers(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int64_t until = clock_monotonic_ns() + ANSWER_MS * INT64_C(1000000);

    while (any_asked() && clock_monotonic_ns() < until)
        nanosleep(&pause, NULL);
}

/* ---- Print the answers ---- */

static int first_frame(const struct answer *answer)
{
    for (int i = 0; i < answer->n; i++)
        if ((uintptr_t)answer->frames[i] == answer->at)
            return i;
    return 0;
}

static void print_frames(const struct answer *answer)
{
    int first = first_frame(answer);

    for (int i = first; i < answer->n; i++) {
        /* A caller's frame holds the return address. If the call ends its function, the
         * return address lies in the next function. */
        uintptr_t back = i > first ? 1 : 0;
        struct symbol symbol;
        char name[112];

        symbol_find((uintptr_t)answer->frames[i] - back, &symbol);
        snprintf(name, sizeof(name), "%s+0x%zx", symbol.name,
                 (size_t)(symbol.into + back));
        print("  #%d %s (%s+0x%zx)", i - first, symbol.name[0] ? name : "?",
              symbol.module, (size_t)(symbol.offset + back));
    }
}

static void print_thread(struct answer *answer, const char *name)
{
    int tid = atomic_load(&answer->tid), asked = ANSWER_ASKED;
    char where[64];

    print("thread %d (%s), state %c", tid, name, state_of(tid));
    if (atomic_load(&answer->state) == ANSWER_HERE) {
        print_frames(answer);
        atomic_store(&answer->state, ANSWER_NONE);
        return;
    }
    read_of_thread(tid, "wchan", where, sizeof(where));
    bool is_known = where[0] && strcmp(where, "0") != 0;

    print("  no answer in %d ms%s%s", ANSWER_MS, is_known ? ", in " : "",
          is_known ? where : "");
    /* Withdraw the query, unless the thread is writing its answer. */
    atomic_compare_exchange_strong(&answer->state, &asked, ANSWER_NONE);
}

static void read_name(int tid, char *name, size_t size)
{
    if (tid == getpid())
        snprintf(name, size, "main");
    else
        read_of_thread(tid, "comm", name, size);
}

static void print_all(void)
{
    size_t threads = query_all(), printed = 0;

    await_answers();
    print("%zu threads of process %d", threads, (int)getpid());
    /* The main thread comes first. */
    for (int is_other = 0; is_other <= 1; is_other++) {
        for (size_t i = 0; i < STACKS_THREADS_MAX; i++) {
            struct answer *answer = &stacks.answers[i];
            int tid = atomic_load(&answer->tid);
            char name[32];

            if (atomic_load(&answer->state) != ANSWER_NONE &&
                (tid != getpid()) == is_other) {
                read_name(tid, name, sizeof(name));
                print_thread(answer, name);
                printed++;
            }
        }
    }
    if (threads > printed)
        print("%zu more threads are not shown", threads - printed);
    print("end");
}

static void *serve(void *arg)
{
    (void)arg;
    for (;;)
        if (sem_wait(&stacks.requests) == 0)
            print_all();
    return NULL;
}

/* ---- Start ---- */

static int start_thread(void)
{
    sigset_t all_but_it, before, request;
    pthread_t thread;

    sigemptyset(&request);
    sigaddset(&request, SIGUSR2);
    sigfillset(&all_but_it);
    sigdelset(&all_but_it, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &all_but_it, &before);
    int status = pthread_create(&thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status)
        return status;
    pthread_setname_np(thread, "stacks");
    pthread_detach(thread);
    /* Block SIGUSR2 in this thread, so that only the new thread receives it. */
    return pthread_sigmask(SIG_BLOCK, &request, NULL);
}

int stacks_start(struct error *err)
{
    struct sigaction query_action = {.sa_sigaction = on_query,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction request_action = {.sa_handler = on_request, .sa_flags = SA_RESTART};
    void *frame;

    /* The first call of backtrace() loads libgcc, which allocates memory. */
    backtrace(&frame, 1);
    sem_init(&stacks.requests, 0, 0);
    sigaction(stacks_signal(), &query_action, NULL);
    int status = start_thread();

    if (status)
        return error_set_errno(err, ERROR_INTERNAL, status,
                               "cannot start the thread that prints stacks");
    sigaction(SIGUSR2, &request_action, NULL);
    return 0;
}
