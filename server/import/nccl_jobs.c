/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_jobs.c - assigns the processes in a log file to jobs */
#include "server/import/nccl_jobs.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"

struct joining {
    size_t *parents; /* union-find over processes; the root is a job's first process */
    bool *has_name;
    /* index of the first process of each communicator; keys are communicator ids */
    json_t *first;
};

static size_t root_of(const struct joining *joining, size_t i)
{
    while (joining->parents[i] != i) {
        joining->parents[i] = joining->parents[joining->parents[i]];
        i = joining->parents[i];
    }
    return i;
}

/* The process with the lower index becomes the root, because it is the job's first
 * process. */
static void join(const struct joining *joining, size_t a, size_t b)
{
    a = root_of(joining, a);
    b = root_of(joining, b);
    if (a < b)
        joining->parents[b] = a;
    else
        joining->parents[a] = b;
}

/* about: the log of process i, or the entry of another communicator in that log. */
static void take_comm(struct joining *joining, size_t i, const json_t *about)
{
    const char *id = json_get_str(about, "comm", NULL);
    int64_t first = id ? json_get_int(joining->first, id, -1) : -1;

    if (!id)
        return;
    joining->has_name[i] = true;
    if (first >= 0)
        join(joining, i, (size_t)first);
    else
        json_object_set_new(joining->first, id, json_integer((json_int_t)i));
}

static void take_log(struct joining *joining, size_t i, const json_t *log)
{
    const json_t *others = json_object_get(log, "others");

    joining->parents[i] = i;
    take_comm(joining, i, log);
    for (size_t k = 0; k < json_array_size(others); k++)
        take_comm(joining, i, json_array_get(others, k));
}

/* Join the processes that report no communicator. If the other processes form one job,
 * they join that job; otherwise they form a job together. */
static void join_nameless(const struct joining *joining, size_t n)
{
    size_t n_jobs = 0, last = n;

    for (size_t i = 0; i < n; i++)
        n_jobs += joining->has_name[i] && joining->parents[i] == i;
    for (size_t i = 0; i < n; i++) {
        if (joining->has_name[i] && n_jobs > 1)
            continue;
        if (last < n)
            join(joining, i, last);
        last = i;
    }
}

size_t nccl_jobs_find(const json_t *logs, size_t *job_of)
{
    size_t n = json_array_size(logs), n_jobs = 0;
    struct joining joining = {
        memory_zeroed(n + 1, sizeof(*joining.parents), "jobs of a log"),
        memory_zeroed(n + 1, sizeof(*joining.has_name), "jobs of a log"), json_object()};

    for (size_t i = 0; i < n; i++)
        take_log(&joining, i, json_array_get(logs, i));
    join_nameless(&joining, n);
    for (size_t i = 0; i < n; i++) {
        size_t root = root_of(&joining, i);

        job_of[i] = root == i ? n_jobs++ : job_of[root];
    }
    free(joining.parents);
    free(joining.has_name);
    json_decref(joining.first);
    return n_jobs;
}
