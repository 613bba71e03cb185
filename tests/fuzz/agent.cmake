fuzz_test(agent_lines rb_agent)
