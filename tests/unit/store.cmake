unit_test(store rb_store rb_common)
unit_test(store_faults rb_store rb_common)
unit_test(store_cursor rb_store rb_common)
unit_test(store_pages rb_store rb_common)
unit_test(store_trends rb_store rb_common)
unit_test(summary rb_store rb_common m)
target_compile_definitions(test_summary PRIVATE
    VECTORS_DIR="${CMAKE_SOURCE_DIR}/tests/vectors")
unit_test(thin rb_store)
