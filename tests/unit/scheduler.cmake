# SPDX-License-Identifier: Apache-2.0
unit_tests(scheduler LIBS rb_plan rb_runs rb_nodes rb_store rb_rendezvous rb_common PkgConfig::UV
    TESTS agent_events follow_up history judge_queue last_checks machine node node_neighbours pace
    placement plan recover replay run run_edit run_end scheduler scheduler_blame scheduler_nodes)
unit_threads(agent_events judge_queue recover replay run_end scheduler scheduler_blame scheduler_nodes)
