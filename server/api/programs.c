/* programs.c - what nodes offer besides measurements */
#include "server/api/handlers.h"

void api_program_list(struct http_request *request, void *arg)
{
    struct api *api = arg;

    http_reply_json(
        request, 200,
        json_pack("{s:o}", "programs", scheduler_programs_json(api->scheduler)));
}
