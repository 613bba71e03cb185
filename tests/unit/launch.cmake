# SPDX-License-Identifier: Apache-2.0
unit_test(engine_call rb_launch rb_common)
target_link_options(units_engine_call PRIVATE -Wl,--wrap=kill)
# A store that takes its time.
unit_test(jobs rb_launch rb_common)
target_link_options(units_jobs PRIVATE -Wl,--wrap=store_submit -Wl,--wrap=store_load_jobs -Wl,--wrap=uv_now)
unit_threads(jobs)
