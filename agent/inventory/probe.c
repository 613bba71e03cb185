/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - runs every worker with --probe to find the available backends */
#include "agent/inventory/probe.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"

#define PREFIX "ringbench-worker-"
#define ANSWER_MAX ((size_t)1024 * 1024)

/* A worker that is being probed, with one library. */
struct query {
    struct probe *probe;
    struct query *next;
    char *backend;
    const char *library; /* NULL: the backend's default */
    struct case_process *process;
    struct buf answer; /* the worker's output */
    char *refusal;     /* why the worker could not start, or NULL */
    json_t *exit;      /* the event `exit`, or NULL */
    bool is_late, has_ended;
};

struct probe {
    struct query *query;
    size_t n_running;
    uint64_t limit_ms;
    json_t *libraries; /* results for the libraries of NCCL */
    uv_timer_t timer;  /* for the time limit, and for calling on_done from the loop */
    json_t *backends;
    probe_done_fn on_done;
    void *arg;
};

static void on_turn(uv_timer_t *timer)
{
    struct probe *probe = timer->data;
    json_t *nccl = json_object_get(probe->backends, "nccl");

    if (nccl && json_array_size(probe->libraries) > 0)
        json_object_set(nccl, "libraries", probe->libraries);
    probe->on_done(probe->arg, probe->backends, probe->n_running == 0);
}

static void set_unavailable(const struct probe *probe, const char *backend,
                            const char *reason)
{
    log_warn("backend %s is unavailable: %s", backend, reason);
    json_object_set_new(probe->backends, backend,
                        json_pack("{s:s, s:b, s:o}", "backend", backend, "available", 0,
                                  "reason", clean_text_json(reason, strlen(reason))));
}

/* Record a library's version or, if `reason` is not NULL, why it cannot be used. */
static void set_library(const struct query *query, const char *version,
                        const char *reason)
{
    json_t *libraries = query->probe->libraries;
    json_t *late = json_find(libraries, "path", query->library);

    if (reason)
        log_warn("the NCCL library %s cannot be used: %s", query->library, reason);
    if (!late)
        json_array_append_new(libraries,
                              late = json_pack("{s:s}", "path", query->library));
    json_object_del(late, "reason");
    json_object_set_new(late, reason ? "reason" : "version",
                        json_string(reason ? reason : version));
}

static void read_library(const struct query *query, const json_t *answer)
{
    const char *version = json_get_str(answer, "nccl_version", NULL);
    const char *path = json_get_str(answer, "nccl_library", "");

    if (version && strcmp(path, "") != 0)
        set_library(query, version, NULL);
    else
        set_library(query, NULL, json_get_str(answer, "reason", "it reports no version"));
}

static void read_answer(struct query *query)
{
    struct error err;
    char reason[640];
    json_t *answer =
        json_parse(query->answer.data ? query->answer.data : "", query->answer.len, &err);

    if (query->library) {
        read_library(query, answer);
    } else if (json_is_object(answer) &&
               json_is_boolean(json_object_get(answer, "available"))) {
        json_object_set(query->probe->backends, query->backend, answer);
    } else {
        snprintf(reason, sizeof(reason),
                 "the answer of its worker's --probe is invalid: %s",
                 answer ? "not an object with 'available'" : err.text);
        set_unavailable(query->probe, query->backend, reason);
    }
    json_decref(answer);
}

static void set_failure(const struct query *query, const char *reason)
{
    if (query->library)
        set_library(query, NULL, reason);
    else
        set_unavailable(query->probe, query->backend, reason);
}

/* Output above ANSWER_MAX is cut and then fails as invalid JSON. */
static void on_event(void *arg, enum event_kind kind, int rank, const char *text,
                     size_t len)
{
    struct query *query = arg;
    json_t *event = json_parse(text, len, NULL);
    const char *type = json_get_str(event, "type", "");

    (void)rank;
    if (kind == EVENT_ENDED)
        query->exit = json_incref(event);
    else if (strcmp(type, "refused") == 0)
        query->refusal = memory_text(json_get_str(event, "reason", ""), "a probe");
    else if (strcmp(json_get_str(event, "stream", ""), "stdout") == 0)
        buf_append_str(&query->answer, json_get_str(event, "text", ""));
    json_decref(event);
}

static void on_end(void *arg, const struct case_end *end)
{
    struct query *query = arg;
    struct probe *probe = query->probe;
    int signum = (int)json_get_int(query->exit, "signal", 0);
    int status = (int)json_get_int(query->exit, "code", 0);
    char reason[128];

    query->has_ended = true;
    snprintf(reason, sizeof(reason), "its worker's --probe %s %d",
             signum ? "died by signal" : "exited with status", signum ? signum : status);
    if (query->refusal || !query->exit)
        set_failure(query, query->refusal ? query->refusal
                           : end->fault   ? end->fault
                                          : "its worker's --probe did not run");
    else if (signum || status)
        set_failure(query, reason);
    else
        read_answer(query);
    if (--probe->n_running == 0 || query->is_late)
        uv_timer_start(&probe->timer, on_turn, 0, 0);
}

/* Report late workers as unavailable, but keep waiting: a process that hangs in a driver
 * cannot be killed. */
static void on_limit(uv_timer_t *timer)
{
    const struct probe *probe = timer->data;
    char reason[128];

    snprintf(reason, sizeof(reason),
             "its worker's --probe has not answered for %.1f s; the agent keeps waiting",
             (double)probe->limit_ms / 1000);
    for (struct query *query = probe->query; query; query = query->next) {
        if (!query->process || query->has_ended)
            continue;
        query->is_late = true;
        set_failure(query, reason);
    }
    on_turn(timer);
}

static void start_query(struct probe *probe, const char *path, const char *backend,
                        const char *library, const struct probe_params *params)
{
    struct query *query = memory_zeroed(1, sizeof(*query), "a probe");
    const struct case_handlers handlers = {on_event, on_end, query};
    json_t *env = json_array(), *variables = json_object(), *document;
    struct error err;

    query->probe = probe;
    query->backend = memory_text(backend, "a probe");
    query->library = library;
    buf_init(&query->answer, ANSWER_MAX);
    query->next = probe->query;
    probe->query = query;
    for (size_t i = 0; i < params->environment->count; i++)
        json_array_append_new(env, json_clean_string(params->environment->items[i]));
    if (library)
        json_object_set_new(variables, "RINGBENCH_NCCL_LIB", json_string(library));
    document =
        json_pack("{s:s, s:[s, s], s:o, s:[{s:i, s:o}]}", "path", path, "argv", path,
                  "--probe", "env", env, "ranks", "rank", 0, "env", variables);
    query->process = case_process_start(params->processes, document, &handlers, &err);
    if (query->process)
        probe->n_running++;
    else
        set_failure(query, err.text);
    json_decref(document);
}

static void start_queries(struct probe *probe, const struct probe_params *params)
{
    DIR *entries = opendir(params->dir);
    const struct dirent *entry;
    char path[PATH_MAX];

    if (!entries) {
        log_warn("cannot list the worker directory %s", params->dir);
        return;
    }
    for (entry = readdir(entries); entry; entry = readdir(entries)) {
        const char *backend = entry->d_name + strlen(PREFIX);

        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 || *backend == '\0' ||
            strspn(backend, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(backend) ||
            snprintf(path, sizeof(path), "%s/%s", params->dir, entry->d_name) >=
                (int)sizeof(path))
            continue;
        start_query(probe, path, backend, NULL, params);
        /* Probe NCCL again with each library that runs may request. */
        for (size_t i = 0; strcmp(backend, "nccl") == 0 && params->nccl_libs &&
                           i < params->nccl_libs->count;
             i++)
            start_query(probe, path, backend, params->nccl_libs->items[i], params);
    }
    closedir(entries);
}

struct probe *probe_start(const struct probe_params *params, probe_done_fn on_done,
                          void *arg)
{
    struct probe *probe = memory_zeroed(1, sizeof(*probe), "a probe");

    probe->limit_ms = params->limit_ms;
    probe->on_done = on_done;
    probe->arg = arg;
    probe->backends = json_object();
    probe->libraries = json_array();
    uv_timer_init(params->loop, &probe->timer);
    probe->timer.data = probe;
    start_queries(probe, params);
    if (probe->n_running == 0)
        uv_timer_start(&probe->timer, on_turn, 0, 0);
    else
        uv_timer_start(&probe->timer, on_limit, params->limit_ms, 0);
    return probe;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void probe_destroy(struct probe *probe)
{
    if (!probe)
        return;
    while (probe->query) {
        struct query *query = probe->query;

        probe->query = query->next;
        case_process_destroy(query->process);
        buf_release(&query->answer);
        json_decref(query->exit);
        free(query->refusal);
        free(query->backend);
        free(query);
    }
    json_decref(probe->backends);
    json_decref(probe->libraries);
    uv_close((uv_handle_t *)&probe->timer, on_closed);
}
