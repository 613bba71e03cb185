/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c - answers whether NCCL detected the same topology on all nodes of a run */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/topology.h"
#include "server/api/handlers.h"
#include "server/api/task.h"
#include "server/finding/verdict.h"
#include "server/store/store_artifacts.h"

/* Return a new verdict on the nodes' XML texts, which may be several megabytes long. */
static json_t *judge(const json_t *list, const char *mark)
{
    size_t n = json_array_size(list);
    struct topology_text *texts = memory_zeroed(n + 1, sizeof(*texts), "a topology");
    json_t *verdict;

    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(list, i);
        const char *xml = json_get_str(one, "text", "");

        texts[i] =
            (struct topology_text){json_get_str(one, "node", ""), xml, strlen(xml)};
    }
    verdict = topology_judge(texts, n, mark);
    free(texts);
    return verdict;
}

static int answer(sqlite3 *db, struct task *task, struct error *err)
{
    int64_t case_no = task->params.topology.case_no;
    json_t *texts = store_get_case_texts(db, http_request_param(task->request, "id"),
                                         "topology.xml", case_no, err);
    json_t *verdict;

    if (!texts)
        return -1;
    if (json_array_size(texts) == 0) {
        json_decref(texts);
        return error_set(err, ERROR_NOT_FOUND,
                         "no topology is stored for the run: set \"topology\": \"dump\" "
                         "in the spec; NCCL writes it once its ranks have connected");
    }
    verdict = judge(texts, verdict_mark_of(task->run));
    json_decref(texts);
    json_object_set_new(verdict, "case",
                        case_no < 0 ? json_null() : json_integer(case_no));
    return task_json(task, verdict);
}

void api_run_topology(struct http_request *request, void *arg)
{
    task_start(arg, request, &topology_route, TASK_PACKED_RUN, STORE_LONG, answer);
}
