unit_test(pace rb_runs rb_common)
unit_test(history rb_runs rb_common)
