/* tuner.c - a run's results as the file of NCCL's example tuner plugin */
#include "server/api/tuner.h"

#include <stdlib.h>

#include "common/base/json_util.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/render/tuner_csv.h"

#define FILE_MAX ((size_t)4 << 20)
#define CHANNELS_MAX 64 /* MAXCHANNELS of NCCL (src/include/device.h) */

struct tuner_wait {
    struct parked *parked;
    json_t *run;
    int64_t channels;
};

static void wait_free(struct tuner_wait *wait)
{
    json_decref(wait->run);
    free(wait);
}

static void on_summary(void *arg, const struct error *err, struct summary *summary)
{
    struct tuner_wait *wait = arg;
    struct http_request *request = parked_take(wait->parked);
    struct error fault;
    struct buf out;

    buf_init(&out, FILE_MAX);
    if (request && err)
        http_reply_error(request, err);
    else if (request && tuner_csv(wait->run, summary, (long)wait->channels, &out, &fault))
        http_reply_problem(request, fault.code == ERROR_INVALID ? 422 : 503, NULL, "%s",
                           fault.text);
    else if (request)
        http_reply_text(request, 200, TUNER_TYPE "; charset=utf-8", out.data, out.len);
    buf_release(&out);
    summary_destroy(summary);
    wait_free(wait);
}

void tuner_reply(struct api *api, struct http_request *request, json_t *run)
{
    static const struct summary_query query = {
        .up_to = INT64_MAX, .points = SUMMARY_POINTS_MAX, .is_bare = true};
    struct tuner_wait *wait;
    int64_t channels = -1;

    if (!params_integer(request, "channels", -1, CHANNELS_MAX, &channels))
        return;
    wait = calloc(1, sizeof(*wait));
    if (!wait) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    wait->run = json_incref(run);
    wait->channels = channels;
    wait->parked = parked_create(api, request);
    if (!wait->parked) {
        wait_free(wait);
        return;
    }
    store_read_summary(api->store, run, &query, on_summary, wait);
}
