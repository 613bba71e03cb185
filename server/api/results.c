/* results.c - a run's result rows */
#include "server/api/follow.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/rows_page.h"
#include "server/api/tuner.h"

#define TUNER_FORM (-1)

static const struct params_format formats[] = {
    {"json", "application/json", ROWS_FORM_JSON},
    {"ndjson", "application/x-ndjson", ROWS_FORM_NDJSON},
    {"csv", "text/csv", ROWS_FORM_CSV},
    {"text", "text/plain", ROWS_FORM_TEXT},
    {"tuner", TUNER_TYPE, TUNER_FORM},
    {NULL, NULL, 0},
};

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct follow_options options = {.status = 200};
    int form;

    if (!params_format(request, formats, &form) ||
        !params_flag(request, "samples", &options.wants_samples) ||
        !params_flag(request, "ranks", &options.wants_ranks))
        return;
    if (form == TUNER_FORM) {
        lookup_settle(api, request, run, tuner_reply);
        return;
    }
    options.form = (enum event_form)form;
    if (rows_page_is_asked(request))
        rows_page_reply(api, request, run, &options);
    else
        follow_start(api, request, run, &options);
}

void api_run_results(struct http_request *request, void *arg)
{
    const char *id = http_request_param(request, "id");
    int form;

    if (!params_format(request, formats, &form))
        return;
    if (form == TUNER_FORM)
        lookup_run(arg, request, id, found);
    else
        lookup_outline(arg, request, id, found);
}
