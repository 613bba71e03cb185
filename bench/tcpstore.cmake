# SPDX-License-Identifier: Apache-2.0
add_executable(tcpstore_load tcpstore_load.c)
target_link_libraries(tcpstore_load PRIVATE rb_common)
add_executable(tcpstore_floor tcpstore_floor.c)
