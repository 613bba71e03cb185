unit_test(program_schema rb_common)
unit_test(metric rb_agent)
unit_test(program rb_agent)
unit_test(programs rb_api rb_scheduler rb_common)
