/* trends_queries.c - what is asked of the reader about values and baselines */
#include "server/store/store_read.h"
#include "server/store/store_trends.h"

void store_read_due(struct store *store, const char *run, size_t skip,
                    store_read_done *done, void *arg)
{
    store_ask(store, STORE_READ_DUE,
              json_pack("{s:s?, s:I}", "run", run, "skip", (json_int_t)skip), NULL, done,
              arg);
}

void store_read_trends(struct store *store, const struct store_trends_query *query,
                       store_read_done *done, void *arg)
{
    json_t *params =
        json_pack("{s:s, s:s?, s:s?, s:s?, s:s, s:i, s:i, s:i}", "figure", query->figure,
                  "nodes", query->nodes, "backend", query->backend, "like", query->like,
                  "likeness", run_likeness_names[query->likeness], "world_size",
                  query->world_size, "limit", query->limit, "before_like", 0);

    store_ask(store, STORE_READ_TRENDS, params, query->cursor, done, arg);
}

void store_read_baselines(struct store *store, const struct store_baselines_query *query,
                          store_read_done *done, void *arg)
{
    json_t *params =
        json_pack("{s:s?, s:s?, s:b, s:i}", "id", query->id, "run", query->run,
                  "has_removed", (int)query->has_removed, "limit", query->limit);

    store_ask(store, STORE_READ_BASELINES, params, query->cursor, done, arg);
}

void store_read_base(struct store *store, const struct store_base_query *query,
                     store_read_done *done, void *arg)
{
    store_ask(store, STORE_READ_BASE,
              json_pack("{s:s, s:s?, s:b, s:i, s:s}", "run", query->run, "base",
                        query->base, "has_series", (int)query->has_series, "last",
                        query->last, "likeness", run_likeness_names[query->likeness]),
              NULL, done, arg);
}
