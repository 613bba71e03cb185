/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - lists launchers and the jobs that they started, and stops jobs */
#include "server/launch/jobs.h"

#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/params.h"

void api_launcher_list(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    struct format_params params;

    if (params_read(request, &launchers_route, &params))
        lists_reply(request, LIST_LAUNCHERS, params.format,
                    json_pack("{s:o}", "launchers", jobs_launchers_json(api->jobs)));
}

void api_job_list(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    struct format_params params;

    if (params_read(request, &jobs_route, &params))
        lists_reply(request, LIST_JOBS, params.format,
                    json_pack("{s:o}", "jobs", jobs_json(api->jobs)));
}

static void reply_job(const struct api *api, struct http_request *request, int status)
{
    const char *id = http_request_param(request, "id");
    json_t *job = jobs_get(api->jobs, id);

    if (job)
        http_reply_json(request, status, job);
    else
        http_reply_problem(request, 404, NULL, "there is no job %.40s", id);
}

void api_job_get(struct http_request *request, void *arg)
{
    if (params_type(request, "application/json"))
        reply_job(arg, request, 200);
}

void api_job_stop(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    struct error err;

    if (!params_type(request, "application/json"))
        return;
    if (jobs_stop(api->jobs, http_request_param(request, "id"), http_request_who(request),
                  &err))
        http_reply_error(request, &err);
    else
        reply_job(api, request, 202);
}
