unit_test(catchup rb_api)
unit_test(columns rb_api)
unit_test(compare_text rb_render)
unit_test(csv rb_api)
unit_test(event_writer rb_api)
unit_test(routes rb_api)
target_compile_definitions(test_routes PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
unit_test(run_text rb_api)
unit_test(table rb_api)
unit_test(trend_text rb_render)
unit_test(tuner_csv rb_render)
foreach(noun run_text table)
    target_compile_definitions(test_${noun} PRIVATE
        GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden")
endforeach()

unit_test(server_config rb_common)
target_sources(test_server_config PRIVATE ${CMAKE_SOURCE_DIR}/server/config.c)

# With a page of its own in place of the one that the build makes.
unit_test(report_page rb_common)
target_sources(test_report_page PRIVATE ${CMAKE_SOURCE_DIR}/server/api/report_page.c)
