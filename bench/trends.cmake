# SPDX-License-Identifier: Apache-2.0
add_executable(make_trends make_trends.c)
target_link_libraries(make_trends PRIVATE rb_analysis rb_store rb_common)
add_executable(judge_levels judge_levels.c)
target_link_libraries(judge_levels PRIVATE rb_analysis m)

add_executable(gate_power gate_power.c)
target_link_libraries(gate_power PRIVATE rb_analysis)
