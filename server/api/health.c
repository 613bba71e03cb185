/* health.c - whether the server lives, and whether it can do its work */
#include <string.h>

#include "server/api/handlers.h"

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
        http_reply_problem(request, 503, NULL, "results can't be kept: %s", trouble);
    else
        reply_word(request, "ready\n");
}
