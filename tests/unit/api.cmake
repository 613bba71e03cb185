# SPDX-License-Identifier: Apache-2.0
unit_tests(api LIBS rb_api rb_render TESTS
    catchup columns compare_text csv event_writer noise routes run_text table trend_text tuner_csv)
unit_define(routes SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    OPENAPI_JSON="${CMAKE_BINARY_DIR}/server/api/openapi.json")
foreach(noun run_text table)
    unit_define(${noun} GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden")
endforeach()

unit_test(server_config rb_common)
target_sources(units_server_config PRIVATE ${CMAKE_SOURCE_DIR}/server/config.c)

# With a page of its own in place of the one that the build makes.
unit_test(report_page rb_common)
target_sources(units_report_page PRIVATE ${CMAKE_SOURCE_DIR}/server/api/report_page.c)

unit_test(openapi_schema rb_common)
target_sources(units_openapi_schema PRIVATE ${CMAKE_SOURCE_DIR}/server/api/openapi_schema.c)

unit_test(openapi_texts rb_common)
target_sources(units_openapi_texts PRIVATE ${CMAKE_SOURCE_DIR}/server/api/openapi_texts.c)
unit_define(openapi_texts OPENAPI_JSON="${CMAKE_BINARY_DIR}/server/api/openapi.json")
add_dependencies(units_openapi_texts openapi)

# Without a server: its requests are of the test.
unit_test(params rb_common)
target_sources(units_params PRIVATE ${CMAKE_SOURCE_DIR}/server/api/params.c)
