# SPDX-License-Identifier: Apache-2.0
# What one turn of the server's loop takes of large cases and fleets.
add_executable(fold_transports fold_transports.c)
target_link_libraries(fold_transports PRIVATE rb_analysis m)
add_executable(judge_nodes judge_nodes.c)
target_link_libraries(judge_nodes PRIVATE rb_nodes m)
