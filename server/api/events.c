/* events.c - a run's events as a stream */
#include "server/api/follow.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/route_params.h"

/* ?after= wins over Last-Event-ID, which a browser sends by itself. */
static bool read_params(struct http_request *request, struct events_params *params)
{
    const char *last = http_request_header(request, "Last-Event-ID");

    if (!params_read(request, &events_route, params))
        return false;
    if (params->after >= 0)
        return true;
    params->after = 0;
    if (!last || params_parse_integer(last, 0, INT64_MAX, &params->after) == 0)
        return true;
    http_reply_problem(request, 400, NULL,
                       "Last-Event-ID must be the id of an event: a whole number");
    return false;
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct events_params params;

    if (read_params(request, &params))
        follow_start(
            api, request, run,
            &(struct follow_options){.status = 200,
                                     .form = (enum event_form)params.format->value,
                                     .after = params.after,
                                     .is_endless = params.is_endless,
                                     .is_bare = !params.has_results,
                                     .wants_summary = params.wants_summary});
}

void api_run_events(struct http_request *request, void *arg)
{
    const char *id = http_request_param(request, "id");
    struct events_params params;

    if (!read_params(request, &params))
        return;
    if (params.format->value == EVENT_FORM_TEXT)
        lookup_run(arg, request, id, found);
    else
        lookup_id(arg, request, id, found);
}
