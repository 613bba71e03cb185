unit_test(change_points rb_analysis m)
# Memory may be out when it is told to.
unit_test(value_keeper rb_runs rb_store rb_common)
target_link_options(test_value_keeper PRIVATE -Wl,--wrap=summary_cases)
