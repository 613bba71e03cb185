/* SPDX-License-Identifier: Apache-2.0 */
/* handlers.h - declares the handlers of the route table. Their argument `arg` is the
 * struct api. */
#ifndef RINGBENCH_SERVER_API_HANDLERS_H
#define RINGBENCH_SERVER_API_HANDLERS_H

#include "server/api/api.h"

http_handler api_run_submit, api_run_list, api_run_get, api_run_edit, api_run_delete,
    api_run_cancel, api_run_follow_up;
http_handler api_run_summary, api_run_validate, api_run_verdict, api_run_projection,
    api_budget, api_compare, api_import;
http_handler api_run_results, api_run_events, api_run_logs, api_run_report,
    api_run_artifacts, api_run_artifact, api_run_inventory, api_run_node_differences,
    api_run_topology;
http_handler api_node_list, api_node_forget, api_node_get, api_program_list,
    api_preflight;
http_handler api_agent_register, api_agent_commands, api_agent_events, api_agent_leave,
    api_agent_announce_leave;
http_handler api_baseline_accept, api_baseline_list, api_baseline_get,
    api_baseline_remove, api_run_baseline, api_trends;
http_handler api_rendezvous_describe;
http_handler api_health, api_ready, api_metrics, api_openapi, api_collectives, api_access;
http_handler api_launcher_list, api_job_list, api_job_get, api_job_stop;
http_handler api_watch_add, api_watch_list, api_watch_get, api_watch_pause,
    api_watch_resume, api_watch_act, api_watch_observe, api_watch_delete,
    api_suspect_list, api_suspect_clear;
http_handler api_demo_start;

/* Return the reason why api_demo_start() would refuse, as a sentence, or NULL if it would
 * accept. */
const char *api_demo_refusal(const struct api *api);

/* Return true if the store accepts new data. If not, answer with 503 and return false. */
bool api_can_keep(struct api *api, struct http_request *request);

#endif
