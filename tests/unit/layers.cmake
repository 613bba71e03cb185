# SPDX-License-Identifier: Apache-2.0
add_test(NAME unit_layers COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR}
    -P ${CMAKE_CURRENT_LIST_DIR}/check/layers.cmake)
add_test(NAME unit_named_files COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR}
    -P ${CMAKE_CURRENT_LIST_DIR}/check/named_files.cmake)
add_test(NAME unit_calls COMMAND ${CMAKE_CURRENT_LIST_DIR}/check/calls ${CMAKE_BINARY_DIR})
add_test(NAME unit_version COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR}
    -D VERSION=${PROJECT_VERSION} -P ${CMAKE_CURRENT_LIST_DIR}/check/version.cmake)
add_test(NAME unit_spdx COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR}
    -P ${CMAKE_CURRENT_LIST_DIR}/check/spdx.cmake)
