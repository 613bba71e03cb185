foreach(noun budget carried case_values ceiling compare compare_cases culprit gate hang json_differences lateness states stats suspects unreached verdict)
    unit_test(${noun} rb_plan m)
    target_compile_definitions(test_${noun} PRIVATE
        SOURCE_DIR="${CMAKE_SOURCE_DIR}" VECTORS_DIR="${CMAKE_SOURCE_DIR}/tests/vectors")
endforeach()
unit_test(compare_level rb_analysis rb_worker_sim m)
unit_test(projection rb_analysis rb_worker_sim m)
unit_test(preflight rb_analysis rb_agent)
target_compile_definitions(test_preflight PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    NODES="${CMAKE_SOURCE_DIR}/tests/data/nodes")
unit_test(topology rb_analysis)
target_compile_definitions(test_topology PRIVATE TOPOLOGIES="${CMAKE_SOURCE_DIR}/tests/data/topologies")
unit_test(transport rb_import rb_analysis)
target_compile_definitions(test_transport PRIVATE DATA_DIR="${CMAKE_CURRENT_LIST_DIR}/../data")
