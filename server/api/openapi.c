/* openapi.c - the description of this API, built in from openapi.json, and the facts that
 * clients would else keep copies of */
#include "server/api/openapi_data.h"

#include "common/spec/collective_json.h"
#include "server/api/handlers.h"
#include "server/api/params.h"

void api_openapi(struct http_request *request, void *arg)
{
    (void)arg;
    if (params_type(request, "application/json"))
        http_reply_text(request, 200, "application/json", (const char *)openapi_data,
                        openapi_data_len);
}

void api_collectives(struct http_request *request, void *arg)
{
    (void)arg;
    if (params_type(request, "application/json"))
        http_reply_json(request, 200, collective_json());
}
