/* SPDX-License-Identifier: Apache-2.0 */
/* health.c - reports health, readiness, the rights of the client's token, and facts such
 * as the list of collectives */
#include <string.h>

#include "common/spec/collective_json.h"
#include "server/api/handlers.h"
#include "server/api/openapi_data.h"
#include "server/api/params.h"

static void reply_word(struct http_request *request, const char *word)
{
    http_reply_text(request, 200, "text/plain; charset=utf-8", word, strlen(word));
}

void api_health(struct http_request *request, void *arg)
{
    (void)arg;
    reply_word(request, "ok\n");
}

void api_ready(struct http_request *request, void *arg)
{
    struct api *api = arg;
    const char *trouble = store_trouble(api->store);

    if (trouble)
        http_reply_problem(request, 503, NULL, "results cannot be stored: %s", trouble);
    else
        reply_word(request, "ready\n");
}

void api_access(struct http_request *request, void *arg)
{
    bool may_operate = http_request_may(request, ROLE_OPERATOR);

    if (params_type(request, "application/json"))
        http_reply_json(
            request, 200,
            json_pack("{s:b, s:b, s:s?}", "operator", (int)may_operate, "demo",
                      may_operate && !api_demo_refusal(arg), "reason",
                      may_operate
                          ? NULL
                          : "This token can only view. Starting, stopping or deleting "
                            "runs needs a token with the role operator."));
}

/* ---- Facts for clients ---- */

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
