unit_test(engine_call rb_launch rb_common)
target_link_options(units_engine_call PRIVATE -Wl,--wrap=kill)
# A disk that takes its time.
unit_test(jobs rb_launch rb_common)
target_link_options(units_jobs PRIVATE -Wl,--wrap=fsync)
unit_test(job rb_launch rb_common)
unit_threads(job jobs)
