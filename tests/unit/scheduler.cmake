unit_test(last_checks rb_runs rb_common)
unit_test(run rb_runs rb_common)
unit_test(machine rb_nodes rb_common)
unit_test(node rb_runs rb_common)
unit_test(node_neighbours rb_nodes rb_common)
unit_test(placement rb_runs rb_common)
# Memory may be out when it is told to.
unit_test(run_end rb_runs rb_store rb_rendezvous rb_common PkgConfig::UV)
target_link_options(test_run_end PRIVATE
    -Wl,--wrap=calloc,--wrap=gate_judge,--wrap=run_to_json)
unit_test(scheduler rb_runs rb_store rb_rendezvous rb_common PkgConfig::UV)
unit_test(agent_events rb_runs rb_store rb_rendezvous rb_common PkgConfig::UV)
unit_test(replay rb_runs rb_store rb_rendezvous rb_common PkgConfig::UV)
unit_test(recover rb_runs rb_store rb_rendezvous rb_common PkgConfig::UV)
