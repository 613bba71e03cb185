unit_test(control rb_worker rb_common)
unit_test(engine_call rb_launch rb_common)
target_link_options(test_engine_call PRIVATE -Wl,--wrap=kill)
# A disk that takes its time.
unit_test(jobs rb_launch rb_common)
target_link_options(test_jobs PRIVATE -Wl,--wrap=fsync)
