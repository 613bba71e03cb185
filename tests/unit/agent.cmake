# SPDX-License-Identifier: Apache-2.0
unit_tests(agent LIBS rb_agent TESTS
    agent_config backoff bind_plan capture case_input case_process cgroup command env_known
    env_policy event_line http_client inherit inventory leftovers lines log_pipe machine_sample
    node_trees outbox ports probe process process_state spool stack_quote)
add_dependencies(units_agent ringbench-case)
unit_define(bind_plan TOPOLOGY_FILE="${CMAKE_SOURCE_DIR}/tests/vectors/two_sockets_four_gpus.xml")
unit_define(node_trees NODES="${CMAKE_SOURCE_DIR}/tests/data/nodes")
