/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - writes counters and gauges in Prometheus' text format, in base units */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/histogram.h"
#include "common/base/json_util.h"
#include "common/spec/bands.h"
#include "server/finding/verdict.h"
#include "server/api/handlers.h"
#include "server/api/params.h"
#include "server/launch/jobs.h"
#include "server/rendezvous/tcpstore_wire.h"
#include "server/watches/watches.h"

#define TEXT_MAX ((size_t)1 << 20)

static void family(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void single(struct buf *out, const char *name, const char *type, const char *help,
                   double value)
{
    family(out, name, type, help);
    buf_printf(out, "%s %.15g\n", name, value);
}

static void sample(struct buf *out, const char *name, const char *label,
                   const char *label_value, double value)
{
    buf_printf(out, "%s{%s=\"%s\"} %.15g\n", name, label, label_value, value);
}

/* Append the samples of a histogram. label: NULL, or NAME="VALUE". */
static void put_histogram(struct buf *out, const char *name, const char *label,
                          const struct histogram *histogram, histogram_bounds bounds)
{
    const char *comma = label ? "," : "";
    uint64_t n = 0;

    label = label ? label : "";
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        char bound[32] = "+Inf";

        n += histogram->counts[i];
        if (i < HISTOGRAM_BOUNDS)
            snprintf(bound, sizeof(bound), "%g", bounds[i]);
        buf_printf(out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", name, label, comma,
                   bound, n);
    }
    buf_printf(out, "%s_sum%s%s%s %.6f\n%s_count%s%s%s %" PRIu64 "\n", name,
               *label ? "{" : "", label, *label ? "}" : "", histogram->sum_s, name,
               *label ? "{" : "", label, *label ? "}" : "", n);
}

static void put_commands(const struct api *api, struct buf *out)
{
    json_t *launchers = jobs_launchers_json(api->jobs), *launcher;
    size_t i;

    family(out, "ringbench_launcher_commands", "gauge",
           "Commands of launchers that are running.");
    json_array_foreach (launchers, i, launcher)
        sample(out, "ringbench_launcher_commands", "launcher",
               json_get_str(launcher, "name", ""),
               (double)json_get_int(launcher, "commands", 0));
    json_decref(launchers);
}

static void put_runs(const struct api *api, struct buf *out)
{
    struct scheduler_counters c;

    scheduler_counters(api->scheduler, &c);
    family(out, "ringbench_nodes", "gauge", "Nodes by state.");
    sample(out, "ringbench_nodes", "state", "idle", (double)c.nodes_idle);
    sample(out, "ringbench_nodes", "state", "busy", (double)c.nodes_busy);
    sample(out, "ringbench_nodes", "state", "lost", (double)c.nodes_lost);
    family(out, "ringbench_runs", "gauge", "Runs that have not ended, by state.");
    sample(out, "ringbench_runs", "state", "queued", (double)c.runs_queued);
    sample(out, "ringbench_runs", "state", "launching", (double)c.runs_launching);
    sample(out, "ringbench_runs", "state", "waiting_for_nodes", (double)c.runs_waiting);
    sample(out, "ringbench_runs", "state", "running", (double)c.runs_running);
    family(out, "ringbench_runs_ended_total", "counter", "Ended runs, by state.");
    sample(out, "ringbench_runs_ended_total", "state", "completed",
           (double)c.runs_completed);
    sample(out, "ringbench_runs_ended_total", "state", "failed", (double)c.runs_failed);
    sample(out, "ringbench_runs_ended_total", "state", "cancelled",
           (double)c.runs_cancelled);
    single(out, "ringbench_cases_started_total", "counter", "Started cases.",
           (double)c.cases_started);
    single(out, "ringbench_events_total", "counter", "Stored events of runs.",
           (double)c.events);
    single(out, "ringbench_results_total", "counter", "Stored result rows.",
           (double)c.results);
    single(out, "ringbench_event_batches_refused_total", "counter",
           "Batches of agents' events that the server refused.",
           (double)c.refused_batches);
    family(out, "ringbench_run_wait_seconds", "histogram",
           "Time from a run's request until it had nodes.");
    put_histogram(out, "ringbench_run_wait_seconds", NULL, &c.waited, histogram_slow);
}

static void put_store(const struct api *api, struct buf *out)
{
    struct store_counters c;

    store_counters(api->store, &c);
    single(out, "ringbench_storage_ok", "gauge",
           "1 if results can be stored and read, else 0.",
           store_trouble(api->store) ? 0.0 : 1.0);
    family(out, "ringbench_database_bytes", "gauge",
           "Size of the database and its write-ahead log.");
    sample(out, "ringbench_database_bytes", "file", "data", (double)c.database_bytes);
    sample(out, "ringbench_database_bytes", "file", "log", (double)c.log_bytes);
    single(out, "ringbench_disk_free_bytes", "gauge",
           "Free bytes of the database's file system.", (double)c.free_bytes);
    single(out, "ringbench_store_queue", "gauge", "Writes that are not yet on disk.",
           (double)c.writes);
    family(out, "ringbench_store_write_seconds", "histogram",
           "Time from a write's submission until it was on disk.");
    put_histogram(out, "ringbench_store_write_seconds", NULL, &c.written,
                  histogram_quick);
}

/* Append a label and escape its value as the format requires. */
static void put_label(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            buf_append_str(out, "\\");
        buf_append(out, value, 1);
    }
    buf_append_str(out, "\"");
}

static void put_check_labels(struct buf *out, const char *name, const json_t *check)
{
    buf_printf(out, "%s{", name);
    put_label(out, "run_name", json_get_str(check, "run_name", ""));
    buf_append_str(out, ",");
    put_label(out, "check", json_get_str(check, "check", ""));
}

/* Append a sample for each check and answer: 1 for the check's last answer, 0 for the
 * others. */
static void put_checks(const struct api *api, struct buf *out)
{
    static const enum verdict_answer answers[] = {VERDICT_PASS, VERDICT_FAIL,
                                                  VERDICT_NOT_EVALUATED};
    const json_t *checks = scheduler_checks(api->scheduler);
    json_t *check;
    size_t i;

    family(out, "ringbench_check", "gauge",
           "1 for the last answer of a check on runs with this name, else 0.");
    json_array_foreach (checks, i, check) {
        for (size_t k = 0; k < sizeof(answers) / sizeof(answers[0]); k++) {
            const char *answer = verdict_answer_name(answers[k]);

            put_check_labels(out, "ringbench_check", check);
            buf_printf(out, ",answer=\"%s\"} %d\n", answer,
                       verdict_has_answer(check, answers[k]));
        }
    }
    family(out, "ringbench_check_time_seconds", "gauge",
           "Time of the check's last answer, in seconds since 1970.");
    json_array_foreach (checks, i, check) {
        put_check_labels(out, "ringbench_check_time_seconds", check);
        buf_printf(out, "} %.3f\n", json_get_num(check, "time_ms", 0.0) / 1e3);
    }
}

/* Figures of bands, and factors that convert them to base units. */
static const struct {
    const char *name, *help;
    double factor;
    bool is_time;
} figures[] = {
    {"ringbench_run_busbw_bytes_per_second",
     "Typical bus bandwidth in a band of sizes, from the last run with this name.", 1e9,
     false},
    {"ringbench_run_time_seconds",
     "Typical time of a call in a band of sizes, from the last run with this name.", 1e-6,
     true},
};

static void put_figures(const struct api *api, struct buf *out)
{
    const json_t *all = scheduler_figures(api->scheduler);
    json_t *one;
    size_t i;

    for (size_t k = 0; k < sizeof(figures) / sizeof(figures[0]); k++) {
        family(out, figures[k].name, "gauge", figures[k].help);
        json_array_foreach (all, i, one) {
            const char *figure = json_get_str(one, "figure", "");
            char collective[40] = "", dtype[40] = "", name[40] = "";
            int band;

            /* the format of likeness_figure(), such as "all_reduce float32 latency in
             * place" */
            sscanf(figure, "%39s %39s %39s", collective, dtype, name);
            band = band_lookup(name);
            if (band < 0 ||
                (band_figure((enum band)band) == BAND_TIME) != figures[k].is_time)
                continue;
            buf_printf(out, "%s{", figures[k].name);
            put_label(out, "run_name", json_get_str(one, "run_name", ""));
            buf_append_str(out, ",");
            put_label(out, "backend", json_get_str(one, "backend", ""));
            buf_printf(out,
                       ",collective=\"%s\",dtype=\"%s\",in_place=\"%s\",band=\"%s\"} "
                       "%.9g\n",
                       collective, dtype, strstr(figure, " in place") ? "yes" : "no",
                       name, json_get_num(one, "value", 0.0) * figures[k].factor);
        }
    }
}

/* ---- Watches ---- */

/* limit for all watches together; a node has up to five samples */
#define WATCH_NODES_MAX 1000

static void put_watch_labels(struct buf *out, const char *name, const json_t *watch,
                             const json_t *node)
{
    buf_printf(out, "%s{watch=\"%s\",", name, json_get_str(watch, "id", ""));
    put_label(out, "name", json_get_str(watch, "name", ""));
    buf_append_str(out, ",");
    put_label(out, "node", json_get_str(node, "name", ""));
}

/* Append the node's level in base units, and the interval in which the level counts as
 * unchanged. */
static void put_level(struct buf *out, const json_t *watch, const json_t *node)
{
    static const char *const values[] = {"level", "low", "high"};
    bool is_time = strcmp(json_get_str(node, "figure", ""), "time_us") == 0;

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        double value = json_get_num(node, values[i], -1);

        if (value < 0)
            continue;
        put_watch_labels(out, "ringbench_watch_level", watch, node);
        buf_printf(out, ",figure=\"%s\",value=\"%s\"} %.9g\n",
                   is_time ? "time_seconds" : "busbw_bytes_per_second", values[i],
                   value * (is_time ? 1e-6 : 1e9));
    }
}

static void put_measured(struct buf *out, const json_t *watch, const json_t *node)
{
    int64_t measured_ms = json_get_time(node, "measured");

    if (measured_ms == 0)
        return;
    put_watch_labels(out, "ringbench_watch_measured_time_seconds", watch, node);
    buf_printf(out, "} %.3f\n", (double)measured_ms / 1e3);
}

static void put_stale(struct buf *out, const json_t *watch, const json_t *node)
{
    put_watch_labels(out, "ringbench_watch_stale", watch, node);
    buf_printf(out, "} %d\n", json_get_bool(node, "stale", false));
}

static const struct {
    const char *name, *help;
    void (*put)(struct buf *out, const json_t *watch, const json_t *node);
} watch_families[] = {
    {"ringbench_watch_level",
     "Level in the node's last run of a watch, and the interval (low, high) in which it "
     "counts as unchanged.",
     put_level},
    {"ringbench_watch_measured_time_seconds",
     "Time of the watch's last measurement of the node, in seconds since 1970.",
     put_measured},
    {"ringbench_watch_stale", "1 if a watch has not measured the node for two periods.",
     put_stale},
};

/* Return a new array of the watches' documents with their nodes. It ends with the watch
 * that reaches WATCH_NODES_MAX nodes. */
static json_t *whole_watches(const struct api *api, const json_t *list)
{
    json_t *whole = json_array(), *watch;
    size_t n = 0, i;

    json_array_foreach (list, i, watch) {
        if (n >= WATCH_NODES_MAX)
            break;
        watch = watches_get(api->watches, json_get_str(watch, "id", ""));
        n += json_array_size(json_object_get(watch, "nodes"));
        json_array_append_new(whole, watch);
    }
    return whole;
}

static void put_watch_totals(struct buf *out, const json_t *watches)
{
    int64_t n_nodes = 0, n_stale = 0;
    json_t *watch;
    size_t i;

    json_array_foreach (watches, i, watch) {
        n_nodes += json_get_int(json_object_get(watch, "coverage"), "nodes", 0);
        n_stale += json_get_int(json_object_get(watch, "coverage"), "stale", 0);
    }
    family(out, "ringbench_watch_nodes", "gauge",
           "Nodes of watches. A node of several watches counts once for each.");
    sample(out, "ringbench_watch_nodes", "state", "measured",
           (double)(n_nodes - n_stale));
    sample(out, "ringbench_watch_nodes", "state", "stale", (double)n_stale);
}

static void put_watches(const struct api *api, struct buf *out)
{
    json_t *list = watches_list(api->watches), *watches = whole_watches(api, list);
    json_t *suspects = watches_suspects(api->watches), *watch, *node;
    size_t i, k, n;

    put_watch_totals(out, list);
    for (size_t f = 0; f < sizeof(watch_families) / sizeof(watch_families[0]); f++) {
        family(out, watch_families[f].name, "gauge", watch_families[f].help);
        n = 0;
        json_array_foreach (watches, i, watch)
            json_array_foreach (json_object_get(watch, "nodes"), k, node)
                if (n++ < WATCH_NODES_MAX)
                    watch_families[f].put(out, watch, node);
    }
    json_decref(watches);
    json_decref(list);
    single(out, "ringbench_suspects", "gauge", "Nodes that are suspects.",
           (double)json_array_size(suspects));
    family(out, "ringbench_suspect", "gauge", "1 for each node that is a suspect.");
    json_array_foreach (suspects, i, node) {
        buf_append_str(out, "ringbench_suspect{");
        put_label(out, "node", json_get_str(node, "node", ""));
        buf_append_str(out, "} 1\n");
    }
    json_decref(suspects);
}

static void put_http(const struct api *api, struct buf *out)
{
    struct http_counters c;

    http_server_counters(api->http, &c);
    single(out, "ringbench_http_requests_total", "counter", "Answered HTTP requests.",
           (double)c.requests);
    family(out, "ringbench_http_responses_total", "counter",
           "HTTP answers by class of status.");
    sample(out, "ringbench_http_responses_total", "code", "2xx", (double)c.responses_2xx);
    sample(out, "ringbench_http_responses_total", "code", "4xx", (double)c.responses_4xx);
    sample(out, "ringbench_http_responses_total", "code", "5xx", (double)c.responses_5xx);
    family(out, "ringbench_http_request_seconds", "histogram",
           "Time from a request's header to its answer's. Agents' polls wait for a "
           "command.");
    put_histogram(out, "ringbench_http_request_seconds", "by=\"agents\"", &c.agents_took,
                  histogram_quick);
    put_histogram(out, "ringbench_http_request_seconds", "by=\"clients\"",
                  &c.clients_took, histogram_quick);
    single(out, "ringbench_http_connections", "gauge", "Open HTTP connections.",
           (double)c.connections);
    single(out, "ringbench_http_waiting_connections", "gauge",
           "HTTP connections without a complete request header.", (double)c.waiting);
    single(out, "ringbench_http_reclaimed_connections_total", "counter",
           "Silent HTTP connections that were closed to make room.", (double)c.reclaimed);
    single(out, "ringbench_http_refused_connections_total", "counter",
           "HTTP connections refused at the limit.", (double)c.refused);
    single(out, "ringbench_http_unread_bytes", "gauge",
           "Bytes of answers that clients have not read yet.", (double)c.unread_bytes);
    single(out, "ringbench_http_dropped_clients_total", "counter",
           "Clients disconnected because too many bytes of their answer were unread.",
           (double)c.dropped);
    single(out, "ringbench_http_streams", "gauge", "Open streams.", (double)c.streams);
}

/* Append a gauge with two samples: one for the stores of all cases, and one for the
 * standing store. */
static void put_usage(struct buf *out, const char *name, const char *help, size_t cases,
                      size_t standing)
{
    family(out, name, "gauge", help);
    sample(out, name, "store", "cases", (double)cases);
    sample(out, name, "store", "standing", (double)standing);
}

static void put_rendezvous(const struct api *api, struct buf *out)
{
    struct rendezvous_counters c;

    rendezvous_counters(api->rendezvous, &c);
    put_usage(out, "ringbench_rendezvous_stores", "Open rendezvous stores.",
              c.cases.stores, c.standing.stores);
    put_usage(out, "ringbench_rendezvous_connections",
              "Connections to rendezvous stores.", c.cases.connections,
              c.standing.connections);
    put_usage(out, "ringbench_rendezvous_keys", "Keys in rendezvous stores.",
              c.cases.keys, c.standing.keys);
    put_usage(out, "ringbench_rendezvous_bytes", "Memory of rendezvous stores.",
              c.cases.bytes, c.standing.bytes);
    put_usage(out, "ringbench_rendezvous_parked_waits",
              "Clients that wait for a key to be set.", c.cases.parked_waits,
              c.standing.parked_waits);
    single(out, "ringbench_rendezvous_expired_keys_total", "counter",
           "Expired keys of the standing store.", (double)c.expired_keys);
    family(out, "ringbench_rendezvous_queries_total", "counter",
           "Queries to rendezvous stores.");
    for (int i = 0; i < TCPSTORE_QUERIES; i++)
        sample(out, "ringbench_rendezvous_queries_total", "query",
               tcpstore_query_name((enum tcpstore_query)i), (double)c.queries[i]);
    family(out, "ringbench_rendezvous_refused_total", "counter",
           "Refused connections to rendezvous stores.");
    for (int i = TCPSTORE_NOT_REFUSED + 1; i < TCPSTORE_REFUSALS; i++)
        sample(out, "ringbench_rendezvous_refused_total", "reason",
               tcpstore_refusal_name((enum tcpstore_refusal)i), (double)c.refused[i]);
}

/* The second field of statm is the number of resident pages. */
static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    char line[256] = "";
    const char *field;

    if (!file)
        return 0.0;
    field = fgets(line, sizeof(line), file) ? strchr(line, ' ') : NULL;
    fclose(file);
    return field ? strtod(field, NULL) * (double)sysconf(_SC_PAGESIZE) : 0.0;
}

/* Since Linux 6.2, the size of /proc/self/fd is the number of descriptors. Counting ten
 * thousand entries would block the loop for 10 ms. */
static double open_descriptors(void)
{
    const struct dirent *entry;
    struct stat folder;
    unsigned count = 0;
    DIR *dir;

    if (stat("/proc/self/fd", &folder) == 0 && folder.st_size > 0)
        return (double)folder.st_size;
    dir = opendir("/proc/self/fd");
    if (!dir)
        return 0.0;
    while ((entry = readdir(dir)))
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count ? (double)(count - 1)
                 : 0.0; /* minus the descriptor of the directory itself */
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void put_process(const struct api *api, struct buf *out)
{
    struct rusage usage;
    struct rlimit limit;

    family(out, "ringbench_build_info", "gauge",
           "Always 1; the label contains the version.");
    sample(out, "ringbench_build_info", "version", RINGBENCH_VERSION, 1.0);
    single(out, "process_start_time_seconds", "gauge",
           "Start time of the server, in seconds since 1970.",
           (double)api->started_ms / 1e3);
    if (!getrusage(RUSAGE_SELF, &usage))
        single(out, "process_cpu_seconds_total", "counter",
               "CPU time used, user and system.",
               seconds(&usage.ru_utime) + seconds(&usage.ru_stime));
    single(out, "process_resident_memory_bytes", "gauge", "Memory in use.",
           resident_bytes());
    single(out, "process_open_fds", "gauge", "File descriptors open.",
           open_descriptors());
    if (!getrlimit(RLIMIT_NOFILE, &limit))
        single(out, "process_max_fds", "gauge", "File descriptors allowed.",
               (double)limit.rlim_cur);
}

static void (*const sections[])(const struct api *, struct buf *) = {
    put_process, put_runs,    put_store, put_commands,   put_checks,
    put_figures, put_watches, put_http,  put_rendezvous,
};

void api_metrics(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    struct buf out;

    if (!params_type(request, "text/plain"))
        return;
    buf_init(&out, TEXT_MAX);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        sections[i](api, &out);
    http_reply_text(request, 200, "text/plain; version=0.0.4; charset=utf-8",
                    out.len ? out.data : "", out.len);
    buf_release(&out);
}
