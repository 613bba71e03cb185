/* openapi.c - the description of this API, built in from openapi.json */
#include "server/api/openapi_data.h"

#include "server/api/handlers.h"

void api_openapi(struct http_request *request, void *arg)
{
    (void)arg;
    http_reply_text(request, 200, "application/json", (const char *)openapi_data,
                    openapi_data_len);
}
