/* history.c - how long the latest completed runs took */
#include "server/runs/history.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"

#define RUNS_USED 3 /* the answer is their median */

struct entry {
    char *id;
    json_t *work, *nodes;
    double seconds;
};

struct history {
    struct entry entries[HISTORY_RUNS]; /* the latest first */
    size_t n;
};

struct history *history_create(void)
{
    return memory_zeroed(1, sizeof(struct history), "the history");
}

static void entry_release(struct entry *entry)
{
    free(entry->id);
    json_decref(entry->work);
    json_decref(entry->nodes);
}

void history_destroy(struct history *history)
{
    for (size_t i = 0; history && i < history->n; i++)
        entry_release(&history->entries[i]);
    free(history);
}

/* What decides how long a run takes, besides its nodes: the work of a case, and how many
 * cases there are. */
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

void history_add(struct history *history, const json_t *run)
{
    double seconds = elapsed_s(run);
    struct problems problems;
    struct run_spec *spec;

    if (strcmp(json_get_str(run, "state", ""), "completed") != 0 || seconds <= 0.0)
        return;
    problems_init(&problems);
    spec = run_spec_parse(json_object_get(run, "spec"), &problems);
    problems_release(&problems);
    if (!spec)
        return;
    if (history->n == HISTORY_RUNS)
        entry_release(&history->entries[--history->n]);
    memmove(history->entries + 1, history->entries,
            history->n * sizeof(history->entries[0]));
    history->entries[0] = (struct entry){
        .id = memory_text(json_get_str(run, "id", ""), "the history"),
        .work = work_of(spec, json_get_str(run, "backend", ""),
                        (int)json_get_int(run, "world_size", 0)),
        .nodes = json_incref(json_object_get(run, "nodes")),
        .seconds = seconds,
    };
    history->n++;
    run_spec_destroy(spec);
}

/* From the latest runs that did the same work; NULL if there are none. */
static json_t *find(const struct history *history, const json_t *work,
                    const json_t *nodes, const char *detail)
{
    double seconds[RUNS_USED];
    json_t *runs = json_array();
    size_t n = 0;

    for (size_t i = 0; i < history->n && n < RUNS_USED; i++) {
        const struct entry *entry = &history->entries[i];

        if (!json_equal(entry->work, work) || (nodes && !json_equal(entry->nodes, nodes)))
            continue;
        seconds[n++] = entry->seconds;
        json_array_append_new(runs, json_string(entry->id));
    }
    if (n == 0) {
        json_decref(runs);
        return NULL;
    }
    order_stat_sort(seconds, n);
    return json_pack("{s:f, s:s, s:o, s:s}", "seconds", seconds[n / 2], "basis", "runs",
                     "runs", runs, "detail", detail);
}

json_t *history_time(const struct history *history, const struct run_spec *spec,
                     const char *backend, int world_size, const json_t *nodes)
{
    json_t *work = work_of(spec, backend, world_size);
    json_t *answer = find(history, work, nodes, "the last such runs on these nodes");

    if (!answer)
        answer = find(history, work, NULL, "the last such runs on other nodes");
    json_decref(work);
    if (answer)
        return answer;
    return json_pack("{s:n, s:s, s:[], s:s}", "seconds", "basis", "none", "runs",
                     "detail", "no such run has completed here");
}
