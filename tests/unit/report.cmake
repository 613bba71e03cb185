unit_test(html_text rb_report)
unit_test(svg_chart rb_report)
unit_test(figures rb_report)
unit_test(report rb_report)
foreach(noun svg_chart report)
    target_compile_definitions(test_${noun} PRIVATE
        GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden")
endforeach()
