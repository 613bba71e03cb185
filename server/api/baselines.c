/* SPDX-License-Identifier: Apache-2.0 */
/* baselines.c - accepts, removes and lists baselines: runs that a person chose as
 * references for comparisons */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/spec_field.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/task.h"
#include "server/store/store_work.h"

/* ---- Accepting ---- */

struct acceptance {
    char run[ID_RUN_LENGTH + 1];
    char by[BASELINE_BY_MAX + 1], why[BASELINE_WHY_MAX + 1];
    char peer[NI_MAXHOST];
    enum run_likeness likeness;
};

static void parse_line(const struct spec_field *field, json_t *value,
                       struct run_spec *spec, const char *pointer,
                       struct problems *problems)
{
    const char *text = json_string_value(value);
    size_t max = (size_t)field->max;

    if (params_is_line(text, max))
        snprintf(spec_field_at(field, spec), max + 1, "%s", text);
    else
        problems_add(problems, pointer,
                     "must be a text of 1 to %zu bytes without line breaks", max);
}

static const struct spec_kind line = {.parse = parse_line};

#define AT(member) .offset = offsetof(struct acceptance, member)

/* clang-format off */
static const struct spec_field table[] = {
    {"run", NULL, SPEC_REQUIRED, .kind = &spec_run_id, AT(run)},
    {"by", NULL, SPEC_REQUIRED, .kind = &line, AT(by), .max = BASELINE_BY_MAX},
    {"why", NULL, SPEC_REQUIRED, .kind = &line, AT(why), .max = BASELINE_WHY_MAX},
    {"like", "\"nodes\"", 0, .kind = &spec_choice, AT(likeness), .choices = run_likeness_names},
};
/* clang-format on */

static const struct spec_fields fields = {table, sizeof(table) / sizeof(table[0]),
                                          "an object with run, by and why"};

static void note(struct task *task, const char *id, const char *run, const char *what,
                 const char *by, const char *peer, const char *why)
{
    if (asprintf(&task->note, "baseline %s: run %s %s by %s from %s: %s", id, run, what,
                 by, peer, why) < 0)
        memory_out("a line of the log");
}

static json_t *baseline_json(const struct store_baseline *baseline, const char *name)
{
    char time[CLOCK_TEXT_MAX];

    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:n}", "id", baseline->id,
                     "run", baseline->run, "name", name, "like",
                     run_likeness_names[baseline->likeness], "accepted",
                     clock_format_ms(baseline->time_ms, time), "by", baseline->by, "why",
                     baseline->why, "from", baseline->peer, "removed");
}

static int accept_run(sqlite3 *db, struct task *task, struct error *err)
{
    const struct acceptance *acceptance = task->own;
    const char *state = json_get_str(task->run, "state", "");
    char id[ID_RUN_LENGTH + 1], location[80];
    const struct store_baseline baseline = {.id = id,
                                            .run = acceptance->run,
                                            .by = acceptance->by,
                                            .why = acceptance->why,
                                            .peer = acceptance->peer,
                                            .likeness = acceptance->likeness,
                                            .time_ms = clock_wall_ms()};

    (void)db;
    if (strcmp(state, "completed") != 0)
        return task_refuse(task, 409, err,
                           "run %s is %s: only a completed run can be a baseline",
                           acceptance->run, state);
    if (json_object_get(task->run, "program"))
        return task_refuse(task, 409, err,
                           "run %s measured no collectives, so it cannot be a baseline",
                           acceptance->run);
    id_run(id);
    task->write = store_write_create();
    store_write_baseline(task->write, &baseline);
    note(task, id, baseline.run, "accepted", baseline.by, baseline.peer, baseline.why);
    snprintf(location, sizeof(location), "/api/v1/baselines/%s", id);
    task_header(task, "Location", location);
    task->status = 201;
    return task_json(task, baseline_json(&baseline, json_get_str(task->run, "name", "")));
}

void api_baseline_accept(struct http_request *request, void *arg)
{
    struct acceptance acceptance = {.likeness = LIKE_NODES};
    struct acceptance *own;
    struct task *task;

    if (!params_type(request, "application/json") ||
        !params_read_body(request, &fields, &acceptance,
                          "the baseline cannot be accepted"))
        return;
    task = task_create(arg, request, NULL);
    if (!task)
        return;
    http_request_peer(request, acceptance.peer);
    own = memory_zeroed(1, sizeof(*own), "a baseline");
    *own = acceptance;
    task->own = own;
    task->run_id = task->values_of = own->run;
    task_run(task, TASK_PACKED_RUN, STORE_KEYED, accept_run);
}

/* ---- Removing ---- */

/* Return the baseline whose id is in the path, even if it was removed, as a new
 * reference. Return NULL with err on failure. */
static json_t *find(sqlite3 *db, const struct task *task, struct error *err)
{
    const char *id = http_request_param(task->request, "id");
    json_t *list =
        store_get_baselines(db, json_pack("{s:s, s:i}", "id", id, "limit", 1), err);
    json_t *baseline = json_incref(json_array_get(json_object_get(list, "baselines"), 0));

    if (list && !baseline)
        error_set(err, ERROR_NOT_FOUND, "there is no baseline %s", id);
    json_decref(list);
    return baseline;
}

static int remove_baseline(sqlite3 *db, struct task *task, struct error *err)
{
    const struct baseline_remove_params *params = &task->params.baseline_remove;
    const char *peer = task->own;
    const struct store_baseline baseline = {.id = http_request_param(task->request, "id"),
                                            .by = params->by,
                                            .why = params->why,
                                            .peer = peer,
                                            .time_ms = clock_wall_ms()};
    json_t *found = find(db, task, err);

    if (!found)
        return -1;
    task->write = store_write_create();
    store_write_baseline_end(task->write, &baseline);
    note(task, baseline.id, json_get_str(found, "run", ""), "removed", baseline.by, peer,
         baseline.why);
    task->status = 204;
    json_decref(found);
    return 0;
}

void api_baseline_remove(struct http_request *request, void *arg)
{
    struct task *task = task_create(arg, request, &baseline_remove_route);

    if (!task)
        return;
    task->own = memory_zeroed(1, NI_MAXHOST, "an address");
    http_request_peer(request, task->own);
    task_run(task, TASK_NO_RUN, STORE_KEYED, remove_baseline);
}

/* ---- Listing and reading ---- */

static int answer_list(sqlite3 *db, struct task *task, struct error *err)
{
    const struct baselines_params *params = &task->params.baselines;
    json_t *list = store_get_baselines(db, params_json(task->route, params), err);
    int result = list ? lists_write(task, LIST_BASELINES, list, params->format, err) : -1;

    json_decref(list);
    return result;
}

void api_baseline_list(struct http_request *request, void *arg)
{
    task_start(arg, request, &baselines_route, TASK_NO_RUN, STORE_KEYED, answer_list);
}

static int answer_one(sqlite3 *db, struct task *task, struct error *err)
{
    json_t *baseline = find(db, task, err);

    return baseline ? task_json(task, baseline) : -1;
}

void api_baseline_get(struct http_request *request, void *arg)
{
    task_start(arg, request, NULL, TASK_NO_RUN, STORE_KEYED, answer_one);
}

/* ---- The baseline of a run ---- */

static int answer_base(sqlite3 *db, struct task *task, struct error *err)
{
    const struct store_base_query query = {.run = task->run_id,
                                           .last = (int)task->params.base.last,
                                           .likeness = task->params.base.likeness};
    json_t *base = store_get_base(db, &query, err);

    return base ? task_json(task, base) : -1;
}

void api_run_baseline(struct http_request *request, void *arg)
{
    struct task *task = task_create(arg, request, &run_baseline_route);

    if (!task)
        return;
    task->values_of = task->run_id;
    task_run(task, TASK_PACKED_RUN, STORE_KEYED, answer_base);
}
