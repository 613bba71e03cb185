# SPDX-License-Identifier: Apache-2.0
add_executable(make_results make_results.c)
target_link_libraries(make_results PRIVATE rb_store rb_common)
