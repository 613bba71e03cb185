unit_tests(scheduler LIBS rb_plan rb_runs rb_nodes rb_store rb_rendezvous rb_common PkgConfig::UV
    TESTS agent_events follow_up history last_checks machine node node_neighbours pace
    placement plan recover replay run run_edit scheduler scheduler_blame scheduler_nodes)
# Memory may be out when it is told to.
unit_test(run_end rb_runs rb_store rb_rendezvous rb_common PkgConfig::UV)
target_link_options(units_run_end PRIVATE
    -Wl,--wrap=calloc,--wrap=gate_judge,--wrap=run_to_json)
unit_threads(agent_events recover replay run_end scheduler scheduler_blame scheduler_nodes)
