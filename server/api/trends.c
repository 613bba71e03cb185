/* SPDX-License-Identifier: Apache-2.0 */
/* trends.c - answers GET /trends with values of runs over time */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/likeness.h"
#include "server/analysis/run_values.h"
#include "server/analysis/trend.h"
#include "server/api/handlers.h"
#include "server/api/task.h"
#include "server/render/trend_text.h"

/* Add the names in one value of the parameter. A value may list several names, separated
 * by commas, and the parameter may repeat. */
static void add_names(void *arg, const char *value)
{
    json_t *names = arg;

    while (*value) {
        size_t len = strcspn(value, ",");

        if (len > 0)
            json_array_append_new(names, json_stringn(value, len));
        value += len + (value[len] == ',');
    }
}

/* Return the nodes' names as one text, which the caller frees. NULL means any nodes. */
static char *read_nodes(struct http_request *request)
{
    json_t *names = json_array();
    char *nodes = NULL;

    http_request_query_each(request, "nodes", add_names, names);
    if (json_array_size(names) > 0)
        nodes = run_values_nodes(names);
    json_decref(names);
    return nodes;
}

/* Replace the store's window and texts with the verdicts on changes. */
static void finish_page(json_t *page, const struct trend_figure *figure,
                        const struct trends_params *params)
{
    size_t examined = json_array_size(json_object_get(page, "window"));

    json_object_set_new(page, "changes",
                        trend_verdicts(page, figure, params->margin_percent / 100,
                                       (size_t)params->requests));
    json_object_set_new(page, "figure", trend_figure_json(figure));
    json_object_set_new(page, "examined", json_integer((json_int_t)examined));
    json_object_del(page, "window");
    json_object_del(page, "texts");
}

static json_t *read_page(sqlite3 *db, struct task *task,
                         const struct trend_figure *figure, struct error *err)
{
    const struct trends_params *params = &task->params.trends;
    char name[LIKENESS_FIGURE_SIZE], *nodes = read_nodes(task->request);
    struct store_trends_query query = {.figure = name,
                                       .nodes = nodes,
                                       .backend = params->backend,
                                       .like = params->run,
                                       .likeness = params->likeness,
                                       .world_size = (int)params->ranks,
                                       .since_ms = params->since_ms,
                                       .until_ms = params->until_ms,
                                       .per_line = (int)params->per_line,
                                       .cursor = params->cursor,
                                       .limit = (int)params->limit};
    json_t *page;

    likeness_figure(figure->collective, figure->dtype, figure->in_place, figure->band,
                    name);
    page = store_get_trends(db, &query, err);
    free(nodes);
    return page;
}

static int answer(sqlite3 *db, struct task *task, struct error *err)
{
    const struct trends_params *params = &task->params.trends;
    const struct trend_figure figure = {collective_name(params->collective),
                                        dtype_name(params->dtype), params->is_in_place,
                                        params->band};
    json_t *page = read_page(db, task, &figure, err);
    int result;

    if (!page)
        return -1;
    if (json_is_string(json_object_get(page, "next")))
        task_link_next(task, "cursor", json_get_str(page, "next", ""));
    finish_page(page, &figure, params);
    result = trend_write(page, (enum form)params->format->value, &task->out);
    json_decref(page);
    return result ? task_too_large(err) : 0;
}

void api_trends(struct http_request *request, void *arg)
{
    struct task *task = task_create(arg, request, &trends_route);

    if (!task)
        return;
    task->values_of = task->params.trends.run;
    task_run(task, TASK_NO_RUN, STORE_LONG, answer);
}
