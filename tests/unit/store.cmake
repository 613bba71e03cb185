unit_tests(store LIBS rb_summary rb_store rb_analysis rb_common m TESTS
    choice_code event_samples store store_artifacts store_cursor store_faults store_pages
    store_runs store_trends store_upgrade summary thin)
foreach(noun store_upgrade summary)
    unit_define(${noun} VECTORS_DIR="${CMAKE_SOURCE_DIR}/tests/vectors")
endforeach()
unit_threads(store store_artifacts store_faults store_pages store_runs
    store_trends store_upgrade summary)
