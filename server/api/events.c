/* events.c - a run's events as a stream */
#include "server/api/follow.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"

static const struct params_format formats[] = {
    {"sse", "text/event-stream", EVENT_FORM_SSE},
    {"ndjson", "application/x-ndjson", EVENT_FORM_NDJSON},
    {"text", "text/plain", EVENT_FORM_TEXT},
    {NULL, NULL, 0},
};

/* ?after= wins over Last-Event-ID, which a browser sends by itself. */
static bool read_after(struct http_request *request, int64_t *after)
{
    const char *last = http_request_header(request, "Last-Event-ID");

    *after = 0;
    if (last && !http_request_query(request, "after") &&
        params_parse_integer(last, 0, INT64_MAX, after)) {
        http_reply_problem(request, 400, NULL,
                           "Last-Event-ID must be the id of an event: a whole number");
        return false;
    }
    return params_integer(request, "after", 0, INT64_MAX, after);
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct follow_options options = {.status = 200, .is_endless = true};
    int form;

    if (!params_format(request, formats, &form) || !read_after(request, &options.after) ||
        !params_flag(request, "follow", &options.is_endless) ||
        !params_flag(request, "summary", &options.wants_summary))
        return;
    options.form = (enum event_form)form;
    follow_start(api, request, run, &options);
}

void api_run_events(struct http_request *request, void *arg)
{
    const char *id = http_request_param(request, "id");
    int form;

    if (!params_format(request, formats, &form))
        return;
    if (form == EVENT_FORM_TEXT)
        lookup_outline(arg, request, id, found);
    else
        lookup_id(arg, request, id, found);
}
