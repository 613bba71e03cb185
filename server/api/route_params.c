/* SPDX-License-Identifier: Apache-2.0 */
/* route_params.c - defines the parameters of each route */
#include "server/api/route_params.h"

#include "common/spec/run_spec_parts.h"
#include "server/import/import.h"
#include "server/render/event_writer.h"

#define INTEGER(type, member, least, most)                                               \
    .kind = PARAM_INTEGER, .offset = offsetof(struct type, member), .min = (least),      \
    .max = (most)
#define REAL(type, member, low, high)                                                    \
    .kind = PARAM_REAL, .offset = offsetof(struct type, member), .least = (low),         \
    .most = (high)
#define FLAG(type, member) .kind = PARAM_FLAG, .offset = offsetof(struct type, member)
#define CHOICE(type, member, words)                                                      \
    .kind = PARAM_CHOICE, .offset = offsetof(struct type, member), .choices = (words)
#define NAME(type, member, known)                                                        \
    .kind = PARAM_CHOICE, .offset = offsetof(struct type, member), .names = (known)
#define TEXT(type, member) .kind = PARAM_TEXT, .offset = offsetof(struct type, member)
#define LINE(type, member, bytes)                                                        \
    .kind = PARAM_LINE, .offset = offsetof(struct type, member), .max = (bytes),         \
    .is_required = true
#define TEXTS(type, member, most)                                                        \
    .kind = PARAM_TEXTS, .offset = offsetof(struct type, member), .max = (most)
#define LABELS(type, member, most)                                                       \
    .kind = PARAM_LABELS, .offset = offsetof(struct type, member), .max = (most)
#define TIME(type, member) .kind = PARAM_TIME, .offset = offsetof(struct type, member)

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define LIST(params) .list = (params), .n = COUNT(params)
#define FORMATS(type, table)                                                             \
    .formats = (table), .format_offset = offsetof(struct type, format)
#define JSON_ONLY .type = "application/json"

#define CHANNELS_MAX 64 /* MAXCHANNELS of NCCL (src/include/device.h) */

static const struct params_format json_or_text[] = {
    {"json", "application/json", FORM_JSON},
    {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

/* Formats of tables (server/render/columns.h). */
static const struct params_format table_formats[] = {
    {"json", "application/json", FORM_JSON},
    {"text", "text/plain", FORM_TEXT},
    {"csv", "text/csv", FORM_CSV},
    {"markdown", "text/markdown", FORM_MARKDOWN},
    {"ndjson", "application/x-ndjson", FORM_NDJSON},
    {NULL, NULL, 0},
};

static const char next_page[] = "`next` of the previous page";
static const char last_runs[] = "the properties, besides settings, that runs must share "
                                "to count as similar: see docs/reference/baselines.md";

/* ---- Runs ---- */

static const char *const states[] = {"queued",     "launching", "waiting_for_nodes",
                                     "rendezvous", "running",   "completed",
                                     "failed",     "cancelled", NULL};
static const char *const sorts[] = {"created", "duration", "figure", NULL};
static const char *const orders[] = {"desc", "asc", NULL};

/* clang-format off */
static const struct param run_list[] = {
    {"state", "runs in one of these states", TEXTS(run_list_params, states, 8), .choices = states},
    {"label", "KEY=VALUE; may repeat: a run must match every label", LABELS(run_list_params, labels, RUN_LIST_LABELS_MAX)},
    {"q", "a text that the run's id, name or notes contain", TEXT(run_list_params, text)},
    {"node", "a node that took part", TEXT(run_list_params, node)},
    {"suspect", "a node that one of the run's verdicts names", TEXT(run_list_params, suspect)},
    {"judged", "1: only runs with a verdict that names slow nodes or states that no node is slow",
     FLAG(run_list_params, is_judged), .usual = "0"},
    {"verdict",
     "an answer of a verdict on the run, such as fail, slow_node or late_rank, or KIND:ANSWER, such as "
     "preflight:finding. May repeat: a run must match one of them. The schema Verdict lists the kinds",
     TEXTS(run_list_params, answers, PARAM_TEXTS_MAX)},
    {"since", "created at this time or later; UTC, with Z", TIME(run_list_params, since_ms)},
    {"until", "created before this time; UTC, with Z", TIME(run_list_params, until_ms)},
    {"sort", "duration: only runs that began and ended; figure: only runs with a headline figure",
     CHOICE(run_list_params, sort, sorts), .usual = "created"},
    {"order", "descending or ascending", CHOICE(run_list_params, order, orders), .usual = "desc"},
    {"total", "1: count the matching runs on all pages, up to 10,000", FLAG(run_list_params, has_total), .usual = "0"},
    {"limit", "runs per page", INTEGER(run_list_params, limit, 1, 500), .usual = "50"},
    {"cursor", next_page, TEXT(run_list_params, cursor)},
};

static const struct param import_list[] = {
    {"collective", "the collective; required if the file does not name it", NAME(import_params, collective, &spec_collective_names), .absent = -1},
    {"ranks", "the number of ranks; required if the file does not contain it or lists only some ranks",
     INTEGER(import_params, ranks, 1, IMPORT_RANKS_MAX)},
    {"name", "name of the runs; default: the file's name", TEXT(import_params, name)},
    {"file", "the file's name, shown in events", TEXT(import_params, file)},
    {"label", "KEY=VALUE for the runs; may repeat", LABELS(import_params, labels, PARAM_TEXTS_MAX)},
    {"time", "time of the measurement; default: now", TIME(import_params, time_ms)},
};

static const struct params_format results_formats[] = {
    {"json", "application/json", ROWS_FORM_JSON},
    {"ndjson", "application/x-ndjson", ROWS_FORM_NDJSON},
    {"csv", "text/csv", ROWS_FORM_CSV},
    {"text", "text/plain", ROWS_FORM_TEXT},
    {"tuner", "text/x-nccl-tuner", FORM_TUNER},
    {NULL, NULL, 0},
};

static const struct param results[] = {
    {"channels", "only for the format tuner: the number of channels to write in its lines; -1 leaves the choice to NCCL",
     INTEGER(results_params, channels, -1, CHANNELS_MAX), .usual = "-1"},
    {"limit", "rows per page; 500 if the request contains only other filters", INTEGER(results_params, limit, 1, 2000), .absent = -1},
    {"after", "`next` of the previous page", INTEGER(results_params, after, 0, INT64_MAX), .absent = -1},
    {"case", "rows of this case", INTEGER(results_params, case_no, 0, INT32_MAX), .absent = -1},
    {"series", "rows of this series", INTEGER(results_params, series, 0, INT32_MAX), .absent = -1},
    {"group", "rows of this group of ranks", INTEGER(results_params, group, 0, INT32_MAX), .absent = -1},
    {"size", "rows of this size", INTEGER(results_params, size, 0, INT64_MAX), .absent = -1},
    {"row", "the row with this number in its case", INTEGER(results_params, row, 0, INT32_MAX), .absent = -1},
    {"rank", "figures of this rank", INTEGER(results_params, rank, 0, INT32_MAX), .absent = -1},
    {"metric", "figures of this metric", TEXT(results_params, metric)},
    {"samples", "1: include samples_us and blocks_us", FLAG(results_params, has_samples), .usual = "0"},
    {"ranks", "1: include times_us (the time of each rank) in json and ndjson; csv always has it", FLAG(results_params, has_ranks), .usual = "0"},
};

static const struct params_format events_formats[] = {
    {"sse", "text/event-stream", EVENT_FORM_SSE},
    {"ndjson", "application/x-ndjson", EVENT_FORM_NDJSON},
    {"text", "text/plain", EVENT_FORM_TEXT},
    {NULL, NULL, 0},
};

static const struct param events[] = {
    {"after", "events after this id", INTEGER(events_params, after, 0, INT64_MAX), .absent = -1},
    {"follow", "0: end after the stored events", FLAG(events_params, is_endless), .usual = "1"},
    {"results", "0: omit the events `result`", FLAG(events_params, has_results), .usual = "1"},
    {"summary", "1: also send events `summary`, statistics of the results so far (SSE only)", FLAG(events_params, wants_summary), .usual = "0"},
};

static const char *const bys[] = {[SUMMARY_BY_COMBINATION] = "combination", [SUMMARY_BY_CASE] = "case",
                                  [SUMMARY_BY_CYCLE] = "cycle", NULL};

static const struct param summary[] = {
    {"points", "maximum number of points in all series, and of values in all figures",
     INTEGER(summary_params, points, SUMMARY_POINTS_MIN, SUMMARY_POINTS_MAX), .usual = "4000"},
    {"by", "which rows are summarized in one point", CHOICE(summary_params, by, bys), .usual = "combination"},
};

static const struct param projection[] = {
    {"nodes", "the number of nodes to project to", INTEGER(projection_params, nodes, 1, 100000), .is_required = true},
};

static const struct param verdict[] = {
    {"wait", "seconds to wait for the run's end", INTEGER(verdict_params, wait_s, 0, 86400), .usual = "0"},
};

static const struct param artifacts[] = {
    {"name", "texts with this name", TEXT(artifacts_params, name), .schema = "ArtifactName"},
    {"limit", "texts per page", INTEGER(artifacts_params, limit, 1, 10000), .usual = "1000"},
    {"after", next_page, INTEGER(artifacts_params, after, 0, INT32_MAX)},
};

static const struct param differences[] = {
    {"base", "the run to compare with; default: the same run", TEXT(differences_params, base)},
    {"base_node", "the node to compare with; default: the same name. Give base, base_node or both", TEXT(differences_params, base_node)},
};

static const struct param topology[] = {
    {"case", "the case to compare nodes in; default: for each node, its first case with topology files",
     INTEGER(topology_params, case_no, 0, INT32_MAX), .absent = -1},
};

static const struct param logs[] = {
    {"case", "lines of this case", INTEGER(logs_params, case_no, 0, INT32_MAX), .absent = -1},
    {"rank", "lines of this rank", INTEGER(logs_params, rank, 0, INT32_MAX), .absent = -1},
    {"limit", "lines per page; a page also ends after 1 MiB", INTEGER(logs_params, limit, 1, 10000), .usual = "1000"},
    {"after", "lines after this `seq`", INTEGER(logs_params, after, 0, INT64_MAX)},
};

/* ---- Comparisons, baselines and trends ---- */

static const struct param compare[] = {
    {"base", "a run's id, or RUN:CASE; may repeat. Or baseline: the newest baseline that is similar to head's first run",
     .kind = PARAM_TEXTS, .is_required = true},
    {"head", "the other side, in the same form; default: the runs of base", .kind = PARAM_TEXTS},
    {"base_env", "NAME=VALUE: only cases with this variable; NAME: only cases without it; may repeat", .kind = PARAM_TEXTS},
    {"head_env", "the same for head; with base=baseline also for base, unless base_env is given", .kind = PARAM_TEXTS},
    {"last", "with base=baseline: compare with the last N completed runs that are similar to head, not with a baseline",
     INTEGER(compare_params, last, 0, RUN_SPEC_LAST_MAX), .usual = "0"},
    {"like", "with last: the properties that runs must share to count as similar. A baseline stores its own value",
     CHOICE(compare_params, likeness, run_likeness_names), .usual = "nodes"},
    {"margin_percent", "changes within this margin count as none; default: the margin of head's first run",
     REAL(compare_params, margin_percent, 0.01, 100)},
};

static const struct param run_baseline[] = {
    {"last", "use the last N similar runs, not a baseline",
     INTEGER(base_params, last, 0, RUN_SPEC_LAST_MAX), .usual = "0"},
    {"like", last_runs, CHOICE(base_params, likeness, run_likeness_names), .usual = "nodes"},
};

static const struct param baselines[] = {
    {"run", "baselines of this run", TEXT(baselines_params, run)},
    {"removed", "1: include removed baselines", FLAG(baselines_params, has_removed), .usual = "0"},
    {"limit", "baselines per page", INTEGER(baselines_params, limit, 1, 500), .usual = "50"},
    {"cursor", next_page, TEXT(baselines_params, cursor)},
};

static const struct param baseline_remove[] = {
    {"by", "who removes the baseline", LINE(baseline_remove_params, by, BASELINE_BY_MAX)},
    {"why", "the reason", LINE(baseline_remove_params, why, BASELINE_WHY_MAX)},
};

static const struct param trends[] = {
    {"collective", "values of this collective", NAME(trends_params, collective, &spec_collective_names), .usual = "all_reduce"},
    {"dtype", "values of this data type", NAME(trends_params, dtype, &spec_dtype_names), .usual = "float32"},
    {"band", "values of this band of sizes", CHOICE(trends_params, band, band_names), .usual = "bandwidth"},
    {"margin_percent", "changes within this margin count as none", REAL(trends_params, margin_percent, 0.01, 100), .usual = "2"},
    {"requests",
     "the number of requests whose answers are shown together. The rate of false discoveries applies to all of them together",
     INTEGER(trends_params, requests, 1, 1000), .usual = "1"},
    {"in_place", "1: in-place values", FLAG(trends_params, is_in_place), .usual = "0"},
    {"nodes", "runs on exactly these nodes; separated by commas or repeated", .kind = PARAM_TEXTS},
    {"run", "only runs that are similar to this run", TEXT(trends_params, run)},
    {"like", last_runs, CHOICE(trends_params, likeness, run_likeness_names), .usual = "nodes"},
    {"backend", "runs of this backend", TEXT(trends_params, backend)},
    {"ranks", "runs with this number of ranks", INTEGER(trends_params, ranks, 1, INT32_MAX)},
    {"since", "runs created at this time or later; UTC, with Z", TIME(trends_params, since_ms)},
    {"until", "runs created before this time; UTC, with Z", TIME(trends_params, until_ms)},
    {"per_line", "the latest N points of each series; 0: all",
     INTEGER(trends_params, per_line, 0, 500), .usual = "0"},
    {"limit", "points per page", INTEGER(trends_params, limit, 1, 5000), .usual = "100"},
    {"cursor", next_page, TEXT(trends_params, cursor)},
};

/* ---- Nodes and agents ---- */

static const struct param nodes[] = {
    {"inventory", "0: omit `inventory`, the largest part of the answer", FLAG(nodes_params, has_inventory), .usual = "1"},
};

static const struct param commands[] = {
    {"after", "the agent acknowledges commands up to this `seq`", INTEGER(commands_params, after, 0, INT64_MAX), .usual = "0"},
    {"spool_full", "the agent's disk has no room for events, and its ranks wait", FLAG(commands_params, is_spool_full), .usual = "0"},
};

/* ---- Routes ---- */

#define RUN "/api/v1/runs/{id}"

const struct route_params
    run_list_route = {"GET", "/api/v1/runs", FORMATS(run_list_params, table_formats), LIST(run_list)},
    import_route = {"POST", "/api/v1/import", FORMATS(import_params, json_or_text), LIST(import_list)},
    results_route = {"GET", RUN "/results", FORMATS(results_params, results_formats), LIST(results),
                     .format_help = "tuner: the fastest settings of a matrix over NCCL_ALGO and NCCL_PROTO, in the file "
                                    "format of NCCL's example tuner plugin"},
    events_route = {"GET", RUN "/events", FORMATS(events_params, events_formats), LIST(events)},
    summary_route = {"GET", RUN "/summary", JSON_ONLY, LIST(summary)},
    budget_route = {"POST", "/api/v1/budget", FORMATS(format_params, json_or_text)},
    projection_route = {"GET", RUN "/projection", FORMATS(projection_params, json_or_text), LIST(projection)},
    verdict_route = {"GET", RUN "/verdict", FORMATS(verdict_params, json_or_text), LIST(verdict)},
    artifacts_route = {"GET", RUN "/artifacts", JSON_ONLY, LIST(artifacts)},
    differences_route = {"GET", RUN "/nodes/{name}/differences", JSON_ONLY, LIST(differences)},
    topology_route = {"GET", RUN "/topology", JSON_ONLY, LIST(topology)},
    run_delete_route = {"DELETE", RUN, .n = 0},
    artifact_route = {"GET", RUN "/artifacts/{digest}", .type = "text/plain"},
    report_route = {"GET", RUN "/report.html", .type = "text/html"},
    logs_route = {"GET", RUN "/logs", FORMATS(logs_params, json_or_text), LIST(logs)},
    compare_route = {"GET", "/api/v1/compare", FORMATS(compare_params, table_formats), LIST(compare),
                     .format_help = "overrides Accept"},
    run_baseline_route = {"GET", RUN "/baseline", JSON_ONLY, LIST(run_baseline)},
    baselines_route = {"GET", "/api/v1/baselines", FORMATS(baselines_params, table_formats), LIST(baselines)},
    baseline_remove_route = {"DELETE", "/api/v1/baselines/{id}", LIST(baseline_remove)},
    trends_route = {"GET", "/api/v1/trends", FORMATS(trends_params, table_formats), LIST(trends)},
    nodes_route = {"GET", "/api/v1/nodes", FORMATS(nodes_params, table_formats), LIST(nodes)},
    node_preflight_route = {"GET", "/api/v1/nodes/{name}/preflight", FORMATS(format_params, json_or_text)},
    preflight_route = {"GET", "/api/v1/preflight", FORMATS(format_params, json_or_text)},
    programs_route = {"GET", "/api/v1/programs", FORMATS(format_params, table_formats)},
    launchers_route = {"GET", "/api/v1/launchers", FORMATS(format_params, table_formats)},
    jobs_route = {"GET", "/api/v1/jobs", FORMATS(format_params, table_formats)},
    watches_route = {"GET", "/api/v1/watches", FORMATS(format_params, table_formats)},
    suspects_route = {"GET", "/api/v1/suspects", FORMATS(format_params, table_formats)},
    rendezvous_route = {"GET", "/api/v1/rendezvous", FORMATS(format_params, table_formats)},
    commands_route = {"GET", "/api/v1/agents/{agent}/commands", JSON_ONLY, LIST(commands)};

const struct route_params *const all_route_params[] = {
    &run_list_route,     &import_route,       &results_route,       &events_route,      &summary_route,
    &budget_route,       &projection_route,   &verdict_route,       &artifacts_route,   &differences_route,
    &topology_route,     &logs_route,         &compare_route,       &run_baseline_route, &baselines_route,
    &baseline_remove_route, &trends_route,    &nodes_route,         &node_preflight_route, &preflight_route,
    &programs_route,     &launchers_route,    &jobs_route,          &watches_route,      &suspects_route,
    &rendezvous_route,   &commands_route,
    NULL};
/* clang-format on */
