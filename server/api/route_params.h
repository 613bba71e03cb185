/* SPDX-License-Identifier: Apache-2.0 */
/* route_params.h - defines each route's parameters as a struct for the route's handler,
 * and as a table. params_read() reads requests with the table, and openapi_make.c
 * describes the parameters from it. */
#ifndef RINGBENCH_SERVER_API_ROUTE_PARAMS_H
#define RINGBENCH_SERVER_API_ROUTE_PARAMS_H

#include "common/spec/bands.h"
#include "common/spec/collective.h"
#include "common/spec/run_spec.h"
#include "server/api/param.h"
#include "server/render/columns.h"
#include "server/store/store.h"
#include "server/summary/summary.h"

#define BASELINE_BY_MAX 200
#define BASELINE_WHY_MAX 1000

#define FORM_TUNER (-1) /* a format of results that enum event_form lacks */

struct format_params {
    const struct params_format *format;
};
extern const struct route_params preflight_route, node_preflight_route, programs_route,
    launchers_route, jobs_route, watches_route, suspects_route, rendezvous_route,
    budget_route;

/* Routes that take no parameters and whose answer is not JSON. */
extern const struct route_params run_delete_route, artifact_route, report_route;

#define RUN_LIST_LABELS_MAX 16

struct run_list_params {
    const struct params_format *format;
    struct param_texts states, labels, answers;
    const char *text, *node, *suspect, *cursor;
    int64_t since_ms, until_ms, limit;
    enum store_runs_sort sort;
    int order; /* 0: descending */
    bool has_total, is_judged;
};
extern const struct route_params run_list_route;

struct import_params {
    const struct params_format *format;
    const char *name, *file;
    int64_t ranks, time_ms; /* 0: not given */
    struct param_texts labels;
    int collective; /* -1: not given */
};
extern const struct route_params import_route;

/* In integer members, -1 means any value or an absent parameter. */
struct results_params {
    const struct params_format *format;
    int64_t channels, limit, after, case_no, series, group, size, row, rank;
    const char *metric;
    bool has_samples, has_ranks;
};
extern const struct route_params results_route;

struct events_params {
    const struct params_format *format;
    int64_t after; /* -1: not given */
    bool is_endless, has_results, wants_summary;
};
extern const struct route_params events_route;

struct summary_params {
    int64_t points;
    enum summary_by by;
};
extern const struct route_params summary_route;

struct projection_params {
    const struct params_format *format;
    int64_t nodes; /* 0: not given */
};
extern const struct route_params projection_route;

struct verdict_params {
    const struct params_format *format;
    int64_t wait_s;
};
extern const struct route_params verdict_route;

struct artifacts_params {
    const char *name;
    int64_t limit, after;
};
extern const struct route_params artifacts_route;

struct differences_params {
    const char *base, *base_node;
};
extern const struct route_params differences_route;

struct topology_params {
    int64_t case_no; /* -1: each node's first case with topology files */
};
extern const struct route_params topology_route;

struct logs_params {
    const struct params_format *format;
    int64_t case_no, rank; /* -1: any */
    int64_t limit, after;
};
extern const struct route_params logs_route;

struct compare_params {
    const struct params_format *format;
    int64_t last;
    enum run_likeness likeness;
    double margin_percent; /* 0: not given */
};
extern const struct route_params compare_route;

struct base_params {
    int64_t last;
    enum run_likeness likeness;
};
extern const struct route_params run_baseline_route;

struct baselines_params {
    const struct params_format *format;
    const char *run, *cursor;
    int64_t limit;
    bool has_removed;
};
extern const struct route_params baselines_route;

struct baseline_remove_params {
    const char *by, *why;
};
extern const struct route_params baseline_remove_route;

struct trends_params {
    const struct params_format *format;
    const char *run, *backend, *cursor;
    enum collective_kind collective;
    enum dtype dtype;
    enum band band;
    enum run_likeness likeness;
    int64_t requests, ranks, limit; /* ranks: 0 means any number */
    int64_t since_ms, until_ms, per_line;
    double margin_percent;
    bool is_in_place;
};
extern const struct route_params trends_route;

struct nodes_params {
    const struct params_format *format;
    bool has_inventory;
};
extern const struct route_params nodes_route;

struct commands_params {
    int64_t after;
    bool is_spool_full;
};
extern const struct route_params commands_route;

/* All routes that take parameters; ends with NULL. */
extern const struct route_params *const all_route_params[];

#endif
