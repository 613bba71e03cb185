unit_tests(trends LIBS rb_analysis m TESTS change_points lasting lasting_changes trend)
# Memory may be out when it is told to.
unit_test(value_keeper rb_runs rb_store rb_common)
target_link_options(units_value_keeper PRIVATE -Wl,--wrap=summary_cases)
unit_threads(value_keeper)
