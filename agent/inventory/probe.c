/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - ask every worker beside the agent what it can do here */
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

struct asked {
    struct probe *probe;
    struct asked *next;
    char *backend;
    const char *library; /* NULL: the backend's own */
    struct case_process *process;
    struct buf answer; /* what it printed */
    char *refusal;     /* why it could not be run; NULL: it was */
    json_t *exit;      /* its event `exit`; NULL: there was none */
    bool is_late, has_ended;
};

struct probe {
    struct asked *asked;
    size_t n_running;
    uint64_t limit_ms;
    json_t *libraries; /* of NCCL */
    uv_timer_t timer;  /* the limit; beyond it or with none running, on_done's turn */
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
    log_warn("the worker of backend %s is of no use here: %s", backend, reason);
    json_object_set_new(probe->backends, backend,
                        json_pack("{s:s, s:b, s:o}", "backend", backend, "available", 0,
                                  "reason", clean_text_json(reason, strlen(reason))));
}

/* reason NULL: the library is there. */
static void note_library(const struct asked *asked, const char *version,
                         const char *reason)
{
    json_t *libraries = asked->probe->libraries;
    json_t *late = json_find(libraries, "path", asked->library);

    if (reason)
        log_warn("the NCCL library %s is of no use here: %s", asked->library, reason);
    if (!late)
        json_array_append_new(libraries,
                              late = json_pack("{s:s}", "path", asked->library));
    json_object_del(late, "reason");
    json_object_set_new(late, reason ? "reason" : "version",
                        json_string(reason ? reason : version));
}

static void take_library(const struct asked *asked, const json_t *answer)
{
    const char *version = json_get_str(answer, "nccl_version", NULL);
    const char *path = json_get_str(answer, "nccl_library", "");

    if (version && strcmp(path, "") != 0)
        note_library(asked, version, NULL);
    else
        note_library(asked, NULL, json_get_str(answer, "reason", "it says no version"));
}

static void take_answer(struct asked *asked)
{
    struct error err;
    char reason[640];
    json_t *answer =
        json_parse(asked->answer.data ? asked->answer.data : "", asked->answer.len, &err);

    if (asked->library) {
        take_library(asked, answer);
    } else if (json_is_object(answer) &&
               json_is_boolean(json_object_get(answer, "available"))) {
        json_object_set(asked->probe->backends, asked->backend, answer);
    } else {
        snprintf(reason, sizeof(reason), "its probe did not answer as it should: %s",
                 answer ? "no object with 'available'" : err.text);
        set_unavailable(asked->probe, asked->backend, reason);
    }
    json_decref(answer);
}

static void take_failure(const struct asked *asked, const char *reason)
{
    if (asked->library)
        note_library(asked, NULL, reason);
    else
        set_unavailable(asked->probe, asked->backend, reason);
}

/* What does not fit makes the JSON invalid, which is reason enough. */
static void on_event(void *arg, enum event_kind kind, int rank, const char *text,
                     size_t len)
{
    struct asked *asked = arg;
    json_t *event = json_parse(text, len, NULL);
    const char *type = json_get_str(event, "type", "");

    (void)rank;
    if (kind == EVENT_ENDED)
        asked->exit = json_incref(event);
    else if (strcmp(type, "refused") == 0)
        asked->refusal = memory_text(json_get_str(event, "reason", ""), "a probe");
    else if (strcmp(json_get_str(event, "stream", ""), "stdout") == 0)
        buf_append_str(&asked->answer, json_get_str(event, "text", ""));
    json_decref(event);
}

static void on_end(void *arg, const struct case_end *end)
{
    struct asked *asked = arg;
    struct probe *probe = asked->probe;
    int signum = (int)json_get_int(asked->exit, "signal", 0);
    int status = (int)json_get_int(asked->exit, "code", 0);
    char reason[128];

    asked->has_ended = true;
    snprintf(reason, sizeof(reason), "its probe %s %d",
             signum ? "died by signal" : "exited with status", signum ? signum : status);
    if (asked->refusal || !asked->exit)
        take_failure(asked, asked->refusal ? asked->refusal
                            : end->fault   ? end->fault
                                           : "it has not run");
    else if (signum || status)
        take_failure(asked, reason);
    else
        take_answer(asked);
    if (--probe->n_running == 0 || asked->is_late)
        uv_timer_start(&probe->timer, on_turn, 0, 0);
}

/* What is in the driver may take its time, and could not be killed there either. */
static void on_limit(uv_timer_t *timer)
{
    const struct probe *probe = timer->data;
    char reason[128];

    snprintf(reason, sizeof(reason),
             "its probe has not answered for %.1f s; it is still waited for",
             (double)probe->limit_ms / 1000);
    for (struct asked *asked = probe->asked; asked; asked = asked->next) {
        if (!asked->process || asked->has_ended)
            continue;
        asked->is_late = true;
        take_failure(asked, reason);
    }
    on_turn(timer);
}

static void ask(struct probe *probe, const char *path, const char *backend,
                const char *library, const struct probe_params *params)
{
    struct asked *asked = memory_zeroed(1, sizeof(*asked), "a probe");
    const struct case_handlers handlers = {on_event, on_end, asked};
    json_t *env = json_array(), *variables = json_object(), *document;
    struct error err;

    asked->probe = probe;
    asked->backend = memory_text(backend, "a probe");
    asked->library = library;
    buf_init(&asked->answer, ANSWER_MAX);
    asked->next = probe->asked;
    probe->asked = asked;
    for (size_t i = 0; i < params->environment->count; i++)
        json_array_append_new(env, json_clean_string(params->environment->items[i]));
    if (library)
        json_object_set_new(variables, "RINGBENCH_NCCL_LIB", json_string(library));
    document =
        json_pack("{s:s, s:[s, s], s:o, s:[{s:i, s:o}]}", "path", path, "argv", path,
                  "--probe", "env", env, "ranks", "rank", 0, "env", variables);
    asked->process = case_process_start(params->processes, document, &handlers, &err);
    if (asked->process)
        probe->n_running++;
    else
        take_failure(asked, err.text);
    json_decref(document);
}

static void ask_all(struct probe *probe, const struct probe_params *params)
{
    DIR *entries = opendir(params->dir);
    const struct dirent *entry;
    char path[PATH_MAX];

    if (!entries) {
        log_warn("can't list the worker directory %s", params->dir);
        return;
    }
    for (entry = readdir(entries); entry; entry = readdir(entries)) {
        const char *backend = entry->d_name + strlen(PREFIX);

        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 || *backend == '\0' ||
            strspn(backend, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(backend) ||
            snprintf(path, sizeof(path), "%s/%s", params->dir, entry->d_name) >=
                (int)sizeof(path))
            continue;
        ask(probe, path, backend, NULL, params);
        /* Once more with each library that runs may name. */
        for (size_t i = 0; strcmp(backend, "nccl") == 0 && params->nccl_libs &&
                           i < params->nccl_libs->count;
             i++)
            ask(probe, path, backend, params->nccl_libs->items[i], params);
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
    ask_all(probe, params);
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
    while (probe->asked) {
        struct asked *asked = probe->asked;

        probe->asked = asked->next;
        case_process_destroy(asked->process);
        buf_release(&asked->answer);
        json_decref(asked->exit);
        free(asked->refusal);
        free(asked->backend);
        free(asked);
    }
    json_decref(probe->backends);
    json_decref(probe->libraries);
    uv_close((uv_handle_t *)&probe->timer, on_closed);
}
