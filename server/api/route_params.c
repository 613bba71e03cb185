/* route_params.c - the parameters of each route */
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

/* Tables, by server/render/columns.h. */
static const struct params_format table_formats[] = {
    {"json", "application/json", FORM_JSON},
    {"text", "text/plain", FORM_TEXT},
    {"csv", "text/csv", FORM_CSV},
    {"markdown", "text/markdown", FORM_MARKDOWN},
    {"ndjson", "application/x-ndjson", FORM_NDJSON},
    {NULL, NULL, 0},
};

static const char next_page[] = "next of an earlier page";
static const char last_runs[] = "what runs that are alike have in common besides their "
                                "settings: docs/reference/baselines.md";

/* ---- Runs ---- */

static const char *const states[] = {"queued",     "launching", "waiting_for_nodes",
                                     "rendezvous", "running",   "completed",
                                     "failed",     "cancelled", NULL};
static const char *const sorts[] = {"created", "duration", "figure", NULL};
static const char *const orders[] = {"desc", "asc", NULL};

/* clang-format off */
static const struct param run_list[] = {
    {"state", "any of these", TEXTS(run_list_params, states, 8), .choices = states},
    {"label", "KEY=VALUE; all must match", LABELS(run_list_params, labels, RUN_LIST_LABELS_MAX)},
    {"q", "part of the id, the name or the notes", TEXT(run_list_params, text)},
    {"node", "a node that took part", TEXT(run_list_params, node)},
    {"suspect", "a node that the run's verdicts blame", TEXT(run_list_params, suspect)},
    {"judged", "1: those whose verdicts say which nodes are to blame, or that none is",
     FLAG(run_list_params, is_judged), .usual = "0"},
    {"verdict",
     "an answer of a verdict on the run, such as fail, slow_node or late_rank, or KIND:ANSWER, such as "
     "preflight:finding; any of these. The kinds are those of Verdict",
     TEXTS(run_list_params, answers, PARAM_TEXTS_MAX)},
    {"since", "created then or later; UTC, with Z", TIME(run_list_params, since_ms)},
    {"until", "created before; UTC, with Z", TIME(run_list_params, until_ms)},
    {"sort", "duration: those that began and have ended; figure: those that have a headline figure, by its number",
     CHOICE(run_list_params, sort, sorts), .usual = "created"},
    {"order", NULL, CHOICE(run_list_params, order, orders), .usual = "desc"},
    {"total", "1: count what the filter lets through, up to 10,000", FLAG(run_list_params, has_total), .usual = "0"},
    {"limit", NULL, INTEGER(run_list_params, limit, 1, 500), .usual = "50"},
    {"cursor", next_page, TEXT(run_list_params, cursor)},
};

static const struct param import_list[] = {
    {"collective", "where the file does not say which", NAME(import_params, collective, &spec_collective_names), .absent = -1},
    {"ranks", "where the file does not say how many, or lists less", INTEGER(import_params, ranks, 1, IMPORT_RANKS_MAX)},
    {"name", "of the runs; without it that of the file", TEXT(import_params, name)},
    {"file", "the file's name, which the events have", TEXT(import_params, file)},
    {"label", "KEY=VALUE; may repeat", LABELS(import_params, labels, PARAM_TEXTS_MAX)},
    {"time", "when it was measured; without it now", TIME(import_params, time_ms)},
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
    {"channels", "of format tuner: what its lines say of channels; -1: NCCL's",
     INTEGER(results_params, channels, -1, CHANNELS_MAX), .usual = "-1"},
    {"limit", "of a page; any of these makes the answer a page of 500", INTEGER(results_params, limit, 1, 2000), .absent = -1},
    {"after", "next of the page before", INTEGER(results_params, after, 0, INT64_MAX), .absent = -1},
    {"case", "of this case only", INTEGER(results_params, case_no, 0, INT32_MAX), .absent = -1},
    {"series", "of this series only", INTEGER(results_params, series, 0, INT32_MAX), .absent = -1},
    {"group", "of this group of ranks only", INTEGER(results_params, group, 0, INT32_MAX), .absent = -1},
    {"size", "of this size only", INTEGER(results_params, size, 0, INT64_MAX), .absent = -1},
    {"row", "of this number in its case only", INTEGER(results_params, row, 0, INT32_MAX), .absent = -1},
    {"rank", "figures of this rank only", INTEGER(results_params, rank, 0, INT32_MAX), .absent = -1},
    {"metric", "figures of this metric only", TEXT(results_params, metric)},
    {"samples", "with samples_us and blocks_us", FLAG(results_params, has_samples), .usual = "0"},
    {"ranks", "with times_us, each rank's time, in json and ndjson; csv has it", FLAG(results_params, has_ranks), .usual = "0"},
};

static const struct params_format events_formats[] = {
    {"sse", "text/event-stream", EVENT_FORM_SSE},
    {"ndjson", "application/x-ndjson", EVENT_FORM_NDJSON},
    {"text", "text/plain", EVENT_FORM_TEXT},
    {NULL, NULL, 0},
};

static const struct param events[] = {
    {"after", "only events after this id", INTEGER(events_params, after, 0, INT64_MAX), .absent = -1},
    {"follow", "0: stop at what is stored now", FLAG(events_params, is_endless), .usual = "1"},
    {"results", "0: without events result", FLAG(events_params, has_results), .usual = "1"},
    {"summary", "1: with events summary, what the results add up to so far (SSE)", FLAG(events_params, wants_summary), .usual = "0"},
};

static const char *const bys[] = {[SUMMARY_BY_COMBINATION] = "combination", [SUMMARY_BY_CASE] = "case",
                                  [SUMMARY_BY_CYCLE] = "cycle", NULL};

static const struct param summary[] = {
    {"points", "at most so many points over all series, and values over all figures",
     INTEGER(summary_params, points, SUMMARY_POINTS_MIN, SUMMARY_POINTS_MAX), .usual = "4000"},
    {"by", "which rows make a point", CHOICE(summary_params, by, bys), .usual = "combination"},
};

static const struct param projection[] = {
    {"nodes", "how many there would be", INTEGER(projection_params, nodes, 1, 100000), .is_required = true},
};

static const struct param verdict[] = {
    {"wait", "seconds to wait for the run's end", INTEGER(verdict_params, wait_s, 0, 86400), .usual = "0"},
};

static const struct param artifacts[] = {
    {"name", "those of that name", TEXT(artifacts_params, name), .schema = "ArtifactName"},
    {"limit", NULL, INTEGER(artifacts_params, limit, 1, 10000), .usual = "1000"},
    {"after", next_page, INTEGER(artifacts_params, after, 0, INT32_MAX)},
};

static const struct param differences[] = {
    {"base", "the run to compare it with; absent: the same", TEXT(differences_params, base)},
    {"base_node", "its node; absent: of the same name. One of both is needed", TEXT(differences_params, base_node)},
};

static const struct param topology[] = {
    {"case", "absent: of each node the first in which it sent any", INTEGER(topology_params, case_no, 0, INT32_MAX), .absent = -1},
};

static const struct param logs[] = {
    {"case", NULL, INTEGER(logs_params, case_no, 0, INT32_MAX), .absent = -1},
    {"rank", NULL, INTEGER(logs_params, rank, 0, INT32_MAX), .absent = -1},
    {"limit", "entries of a page, which also ends past 1 MiB: `next` goes on", INTEGER(logs_params, limit, 1, 10000), .usual = "1000"},
    {"after", "only lines after this seq", INTEGER(logs_params, after, 0, INT64_MAX)},
};

/* ---- Comparisons, baselines and trends ---- */

static const struct param compare[] = {
    {"base", "a run's id, or RUN:CASE; may repeat. Or baseline: the newest baseline that head's first run is like",
     .kind = PARAM_TEXTS, .is_required = true},
    {"head", "the same of the other side; that of base if it is not given", .kind = PARAM_TEXTS},
    {"base_env", "NAME=VALUE: only cases with that variable; NAME: that do not set it; may repeat", .kind = PARAM_TEXTS},
    {"head_env", "the same of head; with base=baseline, of base too if base_env is not given", .kind = PARAM_TEXTS},
    {"last", "with base=baseline: in place of a baseline so many completed runs before head that are like it",
     INTEGER(compare_params, last, 0, RUN_SPEC_LAST_MAX), .usual = "0"},
    {"like", "what the last runs have in common; a baseline has its own",
     CHOICE(compare_params, likeness, run_likeness_names), .usual = "nodes"},
    {"margin_percent", "a change that lies within counts as none; by default as head's first run has it",
     REAL(compare_params, margin_percent, 0.01, 100)},
};

static const struct param run_baseline[] = {
    {"last", "so many of the last runs that are like it, in place of a baseline",
     INTEGER(base_params, last, 0, RUN_SPEC_LAST_MAX), .usual = "0"},
    {"like", last_runs, CHOICE(base_params, likeness, run_likeness_names), .usual = "nodes"},
};

static const struct param baselines[] = {
    {"run", "of this run", TEXT(baselines_params, run)},
    {"removed", "those that were removed too", FLAG(baselines_params, has_removed), .usual = "0"},
    {"limit", NULL, INTEGER(baselines_params, limit, 1, 500), .usual = "50"},
    {"cursor", next_page, TEXT(baselines_params, cursor)},
};

static const struct param baseline_remove[] = {
    {"by", "who removes it", LINE(baseline_remove_params, by, BASELINE_BY_MAX)},
    {"why", NULL, LINE(baseline_remove_params, why, BASELINE_WHY_MAX)},
};

static const struct param trends[] = {
    {"collective", NULL, NAME(trends_params, collective, &spec_collective_names), .usual = "all_reduce"},
    {"dtype", NULL, NAME(trends_params, dtype, &spec_dtype_names), .usual = "float32"},
    {"band", NULL, CHOICE(trends_params, band, band_names), .usual = "bandwidth"},
    {"margin_percent", "changes within it count as none", REAL(trends_params, margin_percent, 0.01, 100), .usual = "2"},
    {"requests", "how many requests are shown together: their changes share the rate of false discoveries",
     INTEGER(trends_params, requests, 1, 1000), .usual = "1"},
    {"in_place", NULL, FLAG(trends_params, is_in_place), .usual = "0"},
    {"nodes", "on exactly these; names, separated by commas or repeated", .kind = PARAM_TEXTS},
    {"run", "only those that are like this run", TEXT(trends_params, run)},
    {"like", last_runs, CHOICE(trends_params, likeness, run_likeness_names), .usual = "nodes"},
    {"backend", NULL, TEXT(trends_params, backend)},
    {"ranks", NULL, INTEGER(trends_params, ranks, 1, INT32_MAX)},
    {"since", "of runs created then or later; UTC, with Z", TIME(trends_params, since_ms)},
    {"until", "of runs created before; UTC, with Z", TIME(trends_params, until_ms)},
    {"per_line", "so many of the latest points of each series; 0: any number",
     INTEGER(trends_params, per_line, 0, 500), .usual = "0"},
    {"limit", NULL, INTEGER(trends_params, limit, 1, 5000), .usual = "100"},
    {"cursor", next_page, TEXT(trends_params, cursor)},
};

/* ---- Nodes and agents ---- */

static const struct param nodes[] = {
    {"inventory", "0: leave out `inventory`, which is most of the answer", FLAG(nodes_params, has_inventory), .usual = "1"},
};

static const struct param commands[] = {
    {"after", "acknowledges commands up to this seq", INTEGER(commands_params, after, 0, INT64_MAX), .usual = "0"},
    {"spool_full", "the agent's disk has no room for events, and its ranks wait", FLAG(commands_params, is_spool_full), .usual = "0"},
};

/* ---- Routes ---- */

#define RUN "/api/v1/runs/{id}"

const struct route_params
    run_list_route = {"GET", "/api/v1/runs", FORMATS(run_list_params, table_formats), LIST(run_list)},
    import_route = {"POST", "/api/v1/import", FORMATS(import_params, json_or_text), LIST(import_list)},
    results_route = {"GET", RUN "/results", FORMATS(results_params, results_formats), LIST(results),
                     .format_help = "tuner: the winners of a matrix over NCCL_ALGO and NCCL_PROTO, as NCCL's "
                                    "example tuner plugin loads them"},
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
