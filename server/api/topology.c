/* topology.c - whether NCCL takes the nodes of a run to be alike */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/topology.h"
#include "server/finding/verdict.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/store/store_artifacts.h"

/* A request that waits for the store, and then for another thread, which reads what may
 * be megabytes of XML. */
struct asking {
    uv_work_t work;
    struct parked *parked;
    const char *mark;
    int64_t case_no; /* -1: of each node the first */
    json_t *texts, *answer;
};

static void asking_free(struct asking *asking)
{
    json_decref(asking->texts);
    json_decref(asking->answer);
    free(asking);
}

static void make_answer(uv_work_t *work)
{
    struct asking *asking = work->data;
    size_t n = json_array_size(asking->texts);
    struct topology_text *texts = calloc(n + 1, sizeof(*texts));

    for (size_t i = 0; texts && i < n; i++) {
        const json_t *one = json_array_get(asking->texts, i);
        const char *xml = json_get_str(one, "text", "");

        texts[i] =
            (struct topology_text){json_get_str(one, "node", ""), xml, strlen(xml)};
    }
    asking->answer = texts ? topology_judge(texts, n, asking->mark) : NULL;
    free(texts);
    if (asking->answer)
        json_object_set_new(asking->answer, "case",
                            asking->case_no < 0 ? json_null()
                                                : json_integer(asking->case_no));
}

static void on_answer(uv_work_t *work, int status)
{
    struct asking *asking = work->data;
    struct http_request *request = parked_take(asking->parked);

    if (request && status)
        http_reply_problem(request, 503, NULL, "the server stops");
    else if (request)
        http_reply_json(request, 200, json_incref(asking->answer));
    asking_free(asking);
}

static void on_texts(void *arg, const struct error *err, json_t *texts)
{
    static const struct error none = {
        ERROR_NOT_FOUND, "the run has no topology: \"topology\": \"dump\" asks for it, "
                         "and NCCL writes it when its ranks have met"};
    struct asking *asking = arg;

    asking->texts = texts;
    if (err || json_array_size(texts) == 0) {
        parked_fail(asking->parked, err ? err : &none);
        asking_free(asking);
        return;
    }
    asking->work.data = asking;
    uv_queue_work(asking->parked->api->loop, &asking->work, make_answer, on_answer);
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct asking *asking;
    int64_t case_no = -1;

    if (!params_type(request, "application/json") ||
        !params_integer(request, "case", 0, INT32_MAX, &case_no))
        return;
    asking = calloc(1, sizeof(*asking));
    if (!asking) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    asking->parked = parked_create(api, request);
    if (!asking->parked) {
        free(asking);
        return;
    }
    asking->case_no = case_no;
    asking->mark = verdict_mark_of(run);
    store_read_case_texts(api->store, json_get_str(run, "id", ""), "topology.xml",
                          case_no, on_texts, asking);
}

void api_run_topology(struct http_request *request, void *arg)
{
    lookup_run(arg, request, http_request_param(request, "id"), found);
}
