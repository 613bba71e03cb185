/* programs.c - what nodes offer besides measurements */
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/params.h"

void api_program_list(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    struct format_params params;

    if (params_read(request, &programs_route, &params))
        lists_reply(
            request, LIST_PROGRAMS, params.format,
            json_pack("{s:o}", "programs", scheduler_programs_json(api->scheduler)));
}
