/* SPDX-License-Identifier: Apache-2.0 */
/* history.c - estimates a run's duration from the latest similar runs */
#include "server/runs/history.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/order_stat.h"

#define RUNS_USED 3 /* number of runs used; the estimate is their median */

/* Return everything that determines a run's duration, except its nodes: the work of one
 * case, and the number of cases. */
static json_t *work_of(const struct run_spec *spec, const char *backend, int world_size)
{
    static const char *const cases[] = {"pattern", "rounds", "concurrent",
                                        "repeats", "matrix", "env"};
    json_t *all = run_spec_to_json(spec);
    json_t *work = json_pack("{s:s, s:i, s:o}", "backend", backend, "world_size",
                             world_size, "case", run_spec_case_json(spec));

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        json_object_set(work, cases[i], json_object_get(all, cases[i]));
    json_decref(all);
    return work;
}

static double elapsed_s(const json_t *run)
{
    int64_t started = clock_parse_ms(json_get_str(run, "started", NULL));
    int64_t ended = clock_parse_ms(json_get_str(run, "ended", NULL));

    return started && ended > started ? (double)(ended - started) / 1e3 : 0.0;
}

/* Return the work of a stored run; NULL if the run did not complete or its spec is
 * invalid. */
static json_t *work_of_run(const json_t *run)
{
    struct problems problems;
    struct run_spec *spec;
    json_t *work;

    if (strcmp(json_get_str(run, "state", ""), "completed") != 0 || elapsed_s(run) <= 0.0)
        return NULL;
    problems_init(&problems);
    spec = run_spec_parse(json_object_get(run, "spec"), &problems);
    problems_release(&problems);
    if (!spec)
        return NULL;
    work = work_of(spec, json_get_str(run, "backend", ""),
                   (int)json_get_int(run, "world_size", 0));
    run_spec_destroy(spec);
    return work;
}

static bool is_like(const json_t *run, const json_t *work, const json_t *nodes)
{
    json_t *own = work_of_run(run);
    bool is_like = json_equal(own, work) &&
                   (!nodes || json_equal(json_object_get(run, "nodes"), nodes));

    json_decref(own);
    return is_like;
}

/* Return the estimate from the latest runs with the same work; NULL if there are none. */
static json_t *find(const json_t *runs, const json_t *work, const json_t *nodes,
                    const char *detail)
{
    double seconds[RUNS_USED];
    json_t *ids = json_array(), *run;
    size_t n = 0, i;

    json_array_foreach (runs, i, run) {
        if (n == RUNS_USED || !is_like(run, work, nodes))
            continue;
        seconds[n++] = elapsed_s(run);
        json_array_append(ids, json_object_get(run, "id"));
    }
    if (n == 0) {
        json_decref(ids);
        return NULL;
    }
    order_stat_sort(seconds, n);
    return json_pack("{s:f, s:s, s:o, s:s}", "seconds", seconds[n / 2], "basis", "runs",
                     "runs", ids, "detail", detail);
}

json_t *history_time(const json_t *runs, const struct run_spec *spec, const char *backend,
                     int world_size, const json_t *nodes)
{
    json_t *work = work_of(spec, backend, world_size);
    json_t *answer = find(runs, work, nodes, "the latest similar runs on these nodes");

    if (!answer)
        answer = find(runs, work, NULL, "the latest similar runs on other nodes");
    json_decref(work);
    if (answer)
        return answer;
    return json_pack("{s:n, s:s, s:[], s:s}", "seconds", "basis", "none", "runs",
                     "detail", "no similar run has completed on this server");
}
