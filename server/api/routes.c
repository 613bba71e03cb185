/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - defines the table of routes: each route's handler, required role and maximum
 * body size */
#include "server/api/handlers.h"
#include "server/import/import.h"

#define RUN_BODY_MAX (1 << 20)
#define REGISTRATION_BODY_MAX (128 << 10) /* a node with 8 GPUs sends about 8 KiB */
#define EVENTS_BODY_MAX (4 << 20)
#define BUDGET_BODY_MAX 16384
#define LEAVE_BODY_MAX 4096
#define BASELINE_BODY_MAX 8192
#define EDIT_BODY_MAX 65536
#define IGNORED_BODY_MAX 4096 /* for clients that POST {} to a route without a body */

static const struct http_route routes[] = {
    {"POST", "/api/v1/runs", ROLE_OPERATOR, RUN_BODY_MAX, api_run_submit},
    {"GET", "/api/v1/runs/{id}/verdict", ROLE_VIEWER, 0, api_run_verdict},
    {"GET", "/api/v1/runs/{id}/projection", ROLE_VIEWER, 0, api_run_projection},
    {"POST", "/api/v1/budget", ROLE_VIEWER, BUDGET_BODY_MAX, api_budget},
    {"POST", "/api/v1/import", ROLE_OPERATOR, IMPORT_BYTES_MAX, api_import},
    {"GET", "/api/v1/runs/{id}/summary", ROLE_VIEWER, 0, api_run_summary},
    {"POST", "/api/v1/runs/validate", ROLE_VIEWER, RUN_BODY_MAX, api_run_validate},
    {"GET", "/api/v1/runs", ROLE_VIEWER, 0, api_run_list},
    {"GET", "/api/v1/runs/{id}", ROLE_VIEWER, 0, api_run_get},
    {"PATCH", "/api/v1/runs/{id}", ROLE_OPERATOR, EDIT_BODY_MAX, api_run_edit},
    {"DELETE", "/api/v1/runs/{id}", ROLE_OPERATOR, IGNORED_BODY_MAX, api_run_delete},
    {"POST", "/api/v1/runs/{id}/cancel", ROLE_OPERATOR, IGNORED_BODY_MAX, api_run_cancel},
    {"POST", "/api/v1/runs/{id}/follow_up", ROLE_OPERATOR, IGNORED_BODY_MAX,
     api_run_follow_up},
    {"GET", "/api/v1/runs/{id}/results", ROLE_VIEWER, 0, api_run_results},
    {"GET", "/api/v1/runs/{id}/events", ROLE_VIEWER, 0, api_run_events},
    {"GET", "/api/v1/runs/{id}/logs", ROLE_VIEWER, 0, api_run_logs},
    {"GET", "/api/v1/runs/{id}/artifacts", ROLE_VIEWER, 0, api_run_artifacts},
    {"GET", "/api/v1/runs/{id}/artifacts/{digest}", ROLE_VIEWER, 0, api_run_artifact},
    {"GET", "/api/v1/runs/{id}/topology", ROLE_VIEWER, 0, api_run_topology},
    {"GET", "/api/v1/runs/{id}/nodes/{name}/inventory", ROLE_VIEWER, 0,
     api_run_inventory},
    {"GET", "/api/v1/runs/{id}/nodes/{name}/differences", ROLE_VIEWER, 0,
     api_run_node_differences},
    {"GET", "/api/v1/runs/{id}/report.html", ROLE_VIEWER, 0, api_run_report},
    {"GET", "/api/v1/compare", ROLE_VIEWER, 0, api_compare},
    {"GET", "/api/v1/runs/{id}/baseline", ROLE_VIEWER, 0, api_run_baseline},
    {"GET", "/api/v1/trends", ROLE_VIEWER, 0, api_trends},
    {"POST", "/api/v1/baselines", ROLE_OPERATOR, BASELINE_BODY_MAX, api_baseline_accept},
    {"GET", "/api/v1/baselines", ROLE_VIEWER, 0, api_baseline_list},
    {"GET", "/api/v1/baselines/{id}", ROLE_VIEWER, 0, api_baseline_get},
    {"DELETE", "/api/v1/baselines/{id}", ROLE_OPERATOR, IGNORED_BODY_MAX,
     api_baseline_remove},
    {"GET", "/api/v1/nodes", ROLE_VIEWER, 0, api_node_list},
    {"GET", "/api/v1/nodes/{name}", ROLE_VIEWER, 0, api_node_get},
    {"GET", "/api/v1/nodes/{name}/preflight", ROLE_VIEWER, 0, api_preflight},
    {"GET", "/api/v1/preflight", ROLE_VIEWER, 0, api_preflight},
    {"DELETE", "/api/v1/nodes/{name}", ROLE_OPERATOR, IGNORED_BODY_MAX, api_node_forget},
    {"GET", "/api/v1/programs", ROLE_VIEWER, 0, api_program_list},
    {"GET", "/api/v1/launchers", ROLE_VIEWER, 0, api_launcher_list},
    {"GET", "/api/v1/jobs", ROLE_VIEWER, 0, api_job_list},
    {"GET", "/api/v1/jobs/{id}", ROLE_VIEWER, 0, api_job_get},
    {"DELETE", "/api/v1/jobs/{id}", ROLE_OPERATOR, IGNORED_BODY_MAX, api_job_stop},
    {"POST", "/api/v1/watches", ROLE_OPERATOR, RUN_BODY_MAX, api_watch_add},
    {"GET", "/api/v1/watches", ROLE_VIEWER, 0, api_watch_list},
    {"GET", "/api/v1/watches/{id}", ROLE_VIEWER, 0, api_watch_get},
    {"POST", "/api/v1/watches/{id}/pause", ROLE_OPERATOR, IGNORED_BODY_MAX,
     api_watch_pause},
    {"POST", "/api/v1/watches/{id}/resume", ROLE_OPERATOR, IGNORED_BODY_MAX,
     api_watch_resume},
    {"POST", "/api/v1/watches/{id}/act", ROLE_OPERATOR, IGNORED_BODY_MAX, api_watch_act},
    {"POST", "/api/v1/watches/{id}/observe", ROLE_OPERATOR, IGNORED_BODY_MAX,
     api_watch_observe},
    {"DELETE", "/api/v1/watches/{id}", ROLE_OPERATOR, IGNORED_BODY_MAX, api_watch_delete},
    {"GET", "/api/v1/suspects", ROLE_VIEWER, 0, api_suspect_list},
    {"DELETE", "/api/v1/suspects/{name}", ROLE_OPERATOR, IGNORED_BODY_MAX,
     api_suspect_clear},
    {"POST", "/api/v1/demo", ROLE_OPERATOR, IGNORED_BODY_MAX, api_demo_start},
    {"GET", "/api/v1/access", ROLE_VIEWER, 0, api_access},
    {"GET", "/api/v1/collectives", ROLE_VIEWER, 0, api_collectives},
    {"GET", "/api/v1/rendezvous", ROLE_VIEWER, 0, api_rendezvous_describe},
    {"POST", "/api/v1/agents", ROLE_AGENT, REGISTRATION_BODY_MAX, api_agent_register},
    {"GET", "/api/v1/agents/{agent}/commands", ROLE_AGENT, 0, api_agent_commands},
    {"POST", "/api/v1/agents/{agent}/events", ROLE_AGENT, EVENTS_BODY_MAX,
     api_agent_events},
    {"POST", "/api/v1/agents/{agent}/leave", ROLE_AGENT, LEAVE_BODY_MAX,
     api_agent_announce_leave},
    {"DELETE", "/api/v1/agents/{agent}", ROLE_AGENT, IGNORED_BODY_MAX, api_agent_leave},
    {"GET", "/healthz", ROLE_NONE, 0, api_health},
    {"GET", "/readyz", ROLE_NONE, 0, api_ready},
    {"GET", "/metrics", ROLE_VIEWER, 0, api_metrics},
    {"GET", "/openapi.json", ROLE_NONE, 0, api_openapi},
    {NULL, NULL, ROLE_NONE, 0, NULL},
};

const struct http_route *api_routes(void)
{
    return routes;
}
