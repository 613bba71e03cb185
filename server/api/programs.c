/* programs.c - what nodes offer besides measurements */
#include "server/api/handlers.h"
#include "server/api/lists.h"

void api_program_list(struct http_request *request, void *arg)
{
    struct api *api = arg;

    if (lists_can_reply(request))
        lists_reply(
            request, LIST_PROGRAMS,
            json_pack("{s:o}", "programs", scheduler_programs_json(api->scheduler)));
}
