unit_test(import rb_import)
target_compile_definitions(test_import PRIVATE
    FILES_DIR="${CMAKE_SOURCE_DIR}/tests/vectors/import")
