/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - starts the ranks of a case from its document */
#include "agent/case/launch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/config/env_list.h"
#include "common/base/foreign_file.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/problem.h"

#define ARTIFACT_MAX ((size_t)512 * 1024) /* at most 3 MiB as an escaped event */

struct launch {
    json_t *document, *ranks;
    struct env_list env;
    char **argv;
    struct rank_params rank;
    size_t n_started;
};

/* ---- files ---- */

static int write_text(const char *path, const char *text, struct error *err)
{
    FILE *file = fopen(path, "we");
    bool is_written = file && fputs(text, file) >= 0;

    if (file && fclose(file) == 0 && is_written)
        return 0;
    return error_set_errno(err, ERROR_IO, errno, "cannot write %s", path);
}

static int write_files(json_t *files, struct error *err)
{
    const char *path;
    json_t *content;

    json_object_foreach (files, path, content)
        if (json_is_string(content) ? write_text(path, json_string_value(content), err)
                                    : json_write_file(content, path, err))
            return -1;
    return 0;
}

/* Workers are not trusted here: the path may be a device, a link or a huge file. */
void launch_send_artifacts(const struct launch *launch)
{
    const char *case_name = json_get_str(launch->document, "name", ""), *name;
    char *text = memory_zeroed(1, ARTIFACT_MAX + 1, "an artifact");
    json_t *path, *event;

    json_object_foreach (json_object_get(launch->document, "artifacts"), name, path) {
        FILE *file = foreign_file_open(json_string_value(path));
        size_t len = file ? fread(text, 1, ARTIFACT_MAX + 1, file) : 0;

        if (file)
            fclose(file);
        if (len == 0)
            continue;
        event = len > ARTIFACT_MAX ? NULL
                                   : json_pack("{s:s, s:s, s:s%}", "type", "artifact",
                                               "name", name, "text", text, len);
        if (event)
            event_stream_add(launch->rank.out, EVENT_OTHER, CASE_NO_RANK, event);
        else
            log_warn(
                "%s: the artifact %s is not sent: it is longer than %zu bytes or not "
                "UTF-8",
                case_name, name, ARTIFACT_MAX);
    }
    free(text);
}

/* ---- ranks ---- */

static int read_program(struct launch *launch, json_t *program, struct error *err)
{
    struct problems problems;

    if (!program)
        return 0;
    problems_init(&problems);
    launch->rank.metrics =
        metric_set_parse(json_object_get(program, "metrics"), "/metrics", &problems);
    problems_release(&problems);
    return launch->rank.metrics
               ? 0
               : error_set(err, ERROR_INVALID, "the program's metrics are invalid");
}

static char **read_strings(const json_t *array)
{
    size_t n = json_array_size(array);
    char **strings = memory_zeroed(n + 1, sizeof(*strings), "arguments");

    for (size_t i = 0; i < n; i++)
        strings[i] =
            memory_text(json_string_value(json_array_get(array, i)), "arguments");
    return strings;
}

struct launch *launch_create(json_t *document, const struct rank_params *ends,
                             struct error *err)
{
    struct launch *launch = memory_zeroed(1, sizeof(*launch), "a launch");
    struct process_params *program = &launch->rank.program;

    launch->document = document;
    launch->ranks = json_object_get(document, "ranks");
    launch->env.items = read_strings(json_object_get(document, "env"));
    launch->env.count = json_array_size(json_object_get(document, "env"));
    launch->env.capacity = launch->env.count + 1;
    launch->argv = read_strings(json_object_get(document, "argv"));
    launch->rank = *ends;
    launch->rank.hides_info = json_get_bool(document, "hides_info", false);
    program->path = json_get_str(document, "path", "");
    program->cwd = json_get_str(document, "cwd", NULL);
    program->argv = launch->argv;
    if (read_program(launch, json_object_get(document, "program"), err) ||
        write_files(json_object_get(document, "files"), err))
        return NULL;
    return launch;
}

size_t launch_total(const struct launch *launch)
{
    return json_array_size(launch->ranks);
}

size_t launch_left(const struct launch *launch)
{
    return launch_total(launch) - launch->n_started;
}

struct rank *launch_next(struct launch *launch, struct error *err)
{
    const json_t *next = json_array_get(launch->ranks, launch->n_started);
    struct rank *rank;

    assert(next);
    launch->rank.number = (int)json_get_int(next, "rank", 0);
    launch->rank.nccl_log = json_get_str(next, "nccl_log", NULL);
    env_list_apply(&launch->env, json_object_get(next, "env"));
    launch->rank.program.env = launch->env.items;
    rank = rank_start(&launch->rank, err);
    launch->n_started += rank != NULL;
    if (!rank && json_object_get(launch->document, "name"))
        error_prefix(err, "rank %d", launch->rank.number);
    return rank;
}
