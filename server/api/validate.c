/* validate.c - what would become of a run spec, without starting it */
#include "server/api/handlers.h"
#include "server/api/params.h"
#include "server/api/spec_request.h"

void api_run_validate(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct run_spec *spec;
    json_t *body;

    if (!params_type(request, "application/json"))
        return;
    body = spec_request_body(request);
    if (!body)
        return;
    spec = spec_request_parse(api, request, body);
    json_decref(body);
    if (!spec)
        return;
    http_reply_json(request, 200, scheduler_preview(api->scheduler, spec));
    run_spec_destroy(spec);
}
