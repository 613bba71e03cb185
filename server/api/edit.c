/* edit.c - changes to a run's labels and notes */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/peer_address.h"
#include "server/runs/run_edit.h"

/* An edit of a run that only the store has. Such edits are made one after the other,
 * since each rewrites the document that it has read. */
struct edit {
    struct edit *next;
    struct parked *parked;
    json_t *patch;
    json_t *run;
    char id[64];
};

static void show(struct api *api, struct http_request *request, json_t *run)
{
    (void)api;
    http_reply_json(request, 200, json_incref(run));
}

/* The body of the event `edit`; NULL with *problems. */
static json_t *event_of(const struct http_request *request, const json_t *run,
                        const json_t *patch, struct problems *problems)
{
    json_t *editable = run_editable(run), *event = run_edit(editable, patch, problems);
    char peer[NI_MAXHOST];

    peer_address_text(request, peer);
    if (event)
        json_object_update_new(event, json_pack("{s:s?, s:s}", "by",
                                                http_request_who(request), "peer", peer));
    json_decref(editable);
    return event;
}

static bool changes_something(const json_t *event)
{
    return json_object_size(json_object_get(event, "after")) > 0;
}

/* ---- Runs in memory ---- */

static void show_anew(struct api *api, struct http_request *request, json_t *run)
{
    lookup_run(api, request, json_get_str(run, "id", ""), show);
}

static void edit_live(struct api *api, struct http_request *request, json_t *run,
                      const json_t *patch)
{
    struct problems problems;
    json_t *event;

    problems_init(&problems);
    event = event_of(request, run, patch, &problems);
    if (!event) {
        http_reply_problem(request, 422, &problems, "the run can't be changed like this");
    } else if (changes_something(event)) {
        scheduler_edit(api->scheduler, json_get_str(run, "id", ""), json_incref(event));
        lookup_settle(api, request, run, show_anew);
    } else {
        show_anew(api, request, run);
    }
    json_decref(event);
    problems_release(&problems);
}

/* ---- Runs in the store ---- */

static void start(struct edit *edit);

/* End the edit, and begin the next. The request is then to be answered; NULL: its client
 * has left. */
static struct http_request *take_request(struct edit *edit)
{
    struct api *api = edit->parked->api;
    struct http_request *request = parked_take(edit->parked);

    api->edits = edit->next;
    if (api->edits)
        start(api->edits);
    json_decref(edit->patch);
    json_decref(edit->run);
    free(edit);
    return request;
}

static void fail(struct edit *edit, const struct error *err)
{
    struct http_request *request = take_request(edit);

    if (request)
        http_reply_error(request, err);
}

static void succeed(struct edit *edit)
{
    json_t *run = json_incref(edit->run);
    struct http_request *request = take_request(edit);

    if (request)
        http_reply_json(request, 200, json_incref(run));
    json_decref(run);
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    (void)events, (void)n_events;
    if (err)
        fail(arg, err);
    else
        succeed(arg);
}

/* The event comes first: it fails if the run has been deleted meanwhile. */
static void write_edit(struct edit *edit, const json_t *event)
{
    struct store_write *write = store_write_create();
    json_t *editable = run_editable(edit->run);

    json_object_update_new(edit->run,
                           run_edit_apply(editable, json_object_get(event, "after")));
    json_decref(editable);
    store_write_event(write, edit->id, clock_wall_ms(), "edit", event);
    store_write_run(write, edit->id, json_get_str(edit->run, "state", ""),
                    json_get_str(edit->run, "name", ""),
                    clock_parse_ms(json_get_str(edit->run, "created", NULL)),
                    json_object_get(edit->run, "labels"), edit->run);
    store_submit(edit->parked->api->store, write, false, on_written, edit);
}

static void edit_stored(struct edit *edit)
{
    struct http_request *request = edit->parked->request;
    struct problems problems;
    json_t *event;

    problems_init(&problems);
    event = event_of(request, edit->run, edit->patch, &problems);
    if (!event) {
        take_request(edit);
        http_reply_problem(request, 422, &problems, "the run can't be changed like this");
    } else if (changes_something(event)) {
        write_edit(edit, event);
    } else {
        succeed(edit);
    }
    json_decref(event);
    problems_release(&problems);
}

static void on_read(void *arg, const struct error *err, json_t *run)
{
    struct edit *edit = arg;
    struct error none;

    edit->run = run;
    if (err && err->code == ERROR_NOT_FOUND)
        error_set(&none, ERROR_NOT_FOUND, "there is no run %s", edit->id);
    if (err)
        fail(edit, err->code == ERROR_NOT_FOUND ? &none : err);
    else if (edit->parked->request)
        edit_stored(edit);
    else
        take_request(edit);
}

static void start(struct edit *edit)
{
    store_read_run(edit->parked->api->store, edit->id, on_read, edit);
}

/* patch: taken. */
static void enqueue(struct api *api, struct http_request *request, json_t *patch)
{
    struct edit *edit = memory_zeroed(1, sizeof(*edit), "a run's edit");
    struct edit **last = &api->edits;

    edit->patch = patch;
    snprintf(edit->id, sizeof(edit->id), "%s", http_request_param(request, "id"));
    edit->parked = parked_create(api, request);
    while (*last)
        last = &(*last)->next;
    *last = edit;
    if (api->edits == edit)
        start(edit);
}

void api_run_edit(struct http_request *request, void *arg)
{
    struct api *api = arg;
    const char *id = http_request_param(request, "id");
    json_t *patch, *run;

    if (!params_type(request, "application/json") || !api_can_keep(api, request))
        return;
    patch = params_body(request);
    if (!patch)
        return;
    run = scheduler_run_listed(api->scheduler, id);
    if (run) {
        edit_live(api, request, run, patch);
        json_decref(patch);
        json_decref(run);
    } else {
        enqueue(api, request, patch);
    }
}
