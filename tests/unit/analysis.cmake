# SPDX-License-Identifier: Apache-2.0
unit_tests(analysis LIBS rb_import rb_plan rb_analysis rb_agent rb_worker_sim m TESTS
    finding budget carried case_values ceiling compare compare_cases compare_level culprit gate hang
    json_differences lateness level preflight projection states stats
    topology transport transport_log unreached verdict)
foreach(noun budget carried case_values ceiling compare compare_cases culprit gate hang
        json_differences lateness preflight states stats unreached
        verdict)
    unit_define(${noun} SOURCE_DIR="${CMAKE_SOURCE_DIR}"
        VECTORS_DIR="${CMAKE_SOURCE_DIR}/tests/vectors")
endforeach()
unit_define(verdict OPENAPI_JSON="${CMAKE_BINARY_DIR}/server/api/openapi.json"
    GOLDEN_DIR="${CMAKE_SOURCE_DIR}/docs")
unit_define(finding OPENAPI_JSON="${CMAKE_BINARY_DIR}/server/api/openapi.json")
unit_define(ceiling NODES="${CMAKE_SOURCE_DIR}/tests/data/nodes")
unit_define(topology TOPOLOGIES="${CMAKE_SOURCE_DIR}/tests/data/topologies")
unit_define(transport_log DATA_DIR="${CMAKE_SOURCE_DIR}/tests/data")
