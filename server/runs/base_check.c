/* base_check.c - a run that is over, compared with its baseline or the last runs like it.
 *
 * The base is found by the run's values (store_trends.h), which are made here already,
 * since its end, which waits for this, would have them made. */
#include "server/runs/base_check.h"

#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/run_spec.h"
#include "server/analysis/compare_json.h"
#include "server/analysis/lasting_changes.h"
#include "server/runs/case_values_read.h"

struct part {
    json_t *doc;
    struct case_values *values;
    struct compare_run run; /* of these two */
};

struct base_check {
    uv_loop_t *loop;
    struct store *store;
    struct store_base_query query;
    base_checked *done;
    void *arg;
    uv_work_t work;
    struct part parts[1 + RUN_SPEC_LAST_MAX + STORE_HISTORY]; /* first the run itself */
    size_t n, at;
    json_t *against, *history; /* ids */
    json_t *accepted, *series; /* of store_read_base: the baseline's run, or null */
    json_t *document, *again, *lasting;
    struct error err;
};

static void read_part(struct base_check *check);

static void check_free(struct base_check *check)
{
    for (size_t i = 0; i < check->n; i++) {
        json_decref(check->parts[i].doc);
        case_values_destroy(check->parts[i].values);
    }
    json_decref(check->against);
    json_decref(check->history);
    json_decref(check->accepted);
    json_decref(check->series);
    json_decref(check->lasting);
    json_decref(check->document);
    json_decref(check->again);
    free(check);
}

static void finish(struct base_check *check, const char *why)
{
    const struct base_answer answer = {check->document, check->again, check->against,
                                       check->lasting, why};

    check->done(check->arg, &answer);
    check_free(check);
}

static void finish_unread(struct base_check *check, const struct error *err)
{
    if (err->code == ERROR_MEMORY)
        memory_out("a run's comparison with its baseline");
    finish(check, err->text);
}

/* ---- The comparison ---- */

/* Those cases of base that are like the run's. */
static int choose(struct base_check *check, struct compare_side *side, size_t first,
                  size_t n, const struct compare_side *head)
{
    struct compare_ask asks[RUN_SPEC_LAST_MAX + STORE_HISTORY];

    for (size_t i = 0; i < n; i++)
        asks[i] = (struct compare_ask){&check->parts[first + i].run, -1};
    if (n > 0 && compare_side_choose(side, asks, n, NULL, &check->err))
        return -1;
    if (head)
        compare_side_keep_alike(side, head);
    return 0;
}

/* The cases that measured the run again, or the others, with the base; NULL: there are
 * none, or check->err. */
static json_t *compare_cases(struct base_check *check, bool confirms)
{
    struct compare_side base = {.name = "base"}, head = {.name = "head"};
    struct compare_side history = {.name = "history"};
    size_t n = json_array_size(check->against);
    const struct compare_question question = {&base, &head, &history,
                                              compare_margin_of(check->parts[0].doc)};
    json_t *document = NULL;

    if (choose(check, &head, 0, 1, NULL) == 0 && choose(check, &base, 1, n, &head) == 0 &&
        choose(check, &history, 1 + n, check->n - 1 - n, &head) == 0) {
        compare_side_keep_confirming(&head, confirms);
        if (head.n > 0 || !confirms)
            document = compare_json(&question, &check->err);
    }
    compare_side_release(&base);
    compare_side_release(&head);
    compare_side_release(&history);
    return document;
}

static void do_compare(uv_work_t *work)
{
    struct base_check *check = work->data;

    check->document = compare_cases(check, false);
    if (!check->document)
        return;
    check->again = compare_cases(check, true);
    check->lasting =
        json_pack("{s:O?, s:o}", "accepted", check->accepted, "changes",
                  lasting_changes(check->series, json_string_value(check->accepted),
                                  compare_margin_of(check->parts[0].doc)));
}

static void on_compared(uv_work_t *work, int status)
{
    struct base_check *check = work->data;

    if (status < 0)
        finish(check, "the server stops");
    else
        finish_unread(check, &check->err);
}

/* ---- What the run is like ---- */

static void on_run(void *arg, const struct error *err, json_t *doc)
{
    struct base_check *check = arg;

    if (err) {
        finish_unread(check, err);
        return;
    }
    check->parts[check->at].doc = doc;
    check->n = check->at + 1;
    read_part(check);
}

/* The runs that it is compared with, then their history. */
static void read_next(struct base_check *check)
{
    size_t n = json_array_size(check->against);
    const json_t *id = check->at < n ? json_array_get(check->against, check->at)
                                     : json_array_get(check->history, check->at - n);

    check->at++;
    if (id && check->at < sizeof(check->parts) / sizeof(check->parts[0]))
        store_read_run(check->store, json_string_value(id), on_run, check);
    else
        uv_queue_work(check->loop, &check->work, do_compare, on_compared);
}

static void on_base(void *arg, const struct error *err, json_t *base)
{
    struct base_check *check = arg;

    if (!err) {
        check->against = json_incref(json_object_get(base, "runs"));
        check->history = json_incref(json_object_get(base, "history"));
        check->accepted =
            json_incref(json_object_get(json_object_get(base, "baseline"), "run"));
        check->series = json_incref(json_object_get(base, "series"));
    }
    json_decref(base);
    if (err)
        finish_unread(check, err);
    else if (json_array_size(check->against) > 0)
        read_next(check);
    else
        finish(check, check->query.last ? "there is no completed run like it"
                                        : "there is no baseline that it is like");
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct base_check *check = arg;

    (void)events, (void)n_events;
    if (err)
        finish_unread(check, err);
    else
        store_read_base(check->store, &check->query, on_base, check);
}

/* values: stolen. */
static void write_values(struct base_check *check, json_t *values)
{
    struct store_write *write = store_write_create();

    if (write)
        store_write_values(write, check->query.run, values);
    json_decref(values); /* now another thread gets it */
    store_submit(check->store, write, false, on_written, check);
}

/* ---- The values of a part ---- */

static void on_values(void *arg, const struct error *err, struct case_values *values,
                      json_t *of_run)
{
    struct base_check *check = arg;
    struct part *part = &check->parts[check->at];

    part->values = values;
    part->run = (struct compare_run){part->doc, part->values};
    if (err)
        finish_unread(check, err);
    else if (check->at == 0)
        write_values(check, of_run);
    else
        read_next(check);
}

static void read_part(struct base_check *check)
{
    case_values_read(check->loop, check->store, check->parts[check->at].doc,
                     check->at == 0, on_values, check);
}

void base_check_start(uv_loop_t *loop, struct store *store, json_t *doc,
                      const struct store_base_query *query, base_checked *done, void *arg)
{
    struct base_check *check = calloc(1, sizeof(*check));

    if (!check)
        memory_out("a run's comparison with its baseline");
    check->loop = loop;
    check->store = store;
    check->query = *query;
    check->query.run = json_get_str(doc, "id", "");
    check->query.has_series = true;
    check->done = done;
    check->arg = arg;
    check->work.data = check;
    check->parts[0].doc = doc;
    check->n = 1;
    read_part(check);
}
