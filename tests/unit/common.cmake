foreach(noun bands buf clean_text clock collective conditions cpu_list error headline ids json_util options order_stat problem row_fields
        placed run_spec run_spec_memory secret_file series spec_docs this_machine threshold units utf8 variables)
    unit_test(${noun} rb_common)
endforeach()
foreach(noun collective headline row_fields units)
    target_compile_definitions(test_${noun} PRIVATE
        VECTORS_DIR="${CMAKE_SOURCE_DIR}/tests/vectors")
endforeach()
foreach(noun collective conditions row_fields)
    target_compile_definitions(test_${noun} PRIVATE GOLDEN_DIR="${CMAKE_SOURCE_DIR}/docs")
endforeach()
target_compile_definitions(test_spec_docs PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
# A kernel of as many CPUs as it is told.
target_link_options(test_this_machine PRIVATE -Wl,--wrap=sched_getaffinity)
# Every allocation of the code under test goes through the test's own functions.
target_link_options(test_run_spec_memory PRIVATE
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup)
