# SPDX-License-Identifier: Apache-2.0
unit_tests(common LIBS rb_common TESTS
    bands buf clean_text clock collective conditions cpu_list error headline ids json_util
    mentions ncclog options order_stat placed problem row_fields run_spec run_spec_nccl secret_file
    series spec_docs split threshold traffic units utf8 variables)
foreach(noun collective headline row_fields units)
    unit_define(${noun} VECTORS_DIR="${CMAKE_SOURCE_DIR}/tests/vectors")
endforeach()
foreach(noun collective conditions row_fields)
    unit_define(${noun} GOLDEN_DIR="${CMAKE_SOURCE_DIR}/docs")
endforeach()
unit_define(ncclog DATA_DIR="${CMAKE_SOURCE_DIR}/tests/data")
unit_define(spec_docs SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    OPENAPI_JSON="${CMAKE_BINARY_DIR}/server/api/openapi.json")

# A kernel of as many CPUs as it is told.
unit_test(this_machine rb_common)
target_link_options(units_this_machine PRIVATE -Wl,--wrap=sched_getaffinity)
