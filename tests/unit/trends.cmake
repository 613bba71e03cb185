unit_test(change_points rb_analysis m)
unit_test(value_keeper rb_runs rb_store rb_common)
