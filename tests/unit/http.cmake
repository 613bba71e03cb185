# SPDX-License-Identifier: Apache-2.0
add_library(http_fixture STATIC ${CMAKE_CURRENT_LIST_DIR}/http_fixture.c)
target_link_libraries(http_fixture PUBLIC rb_http Threads::Threads PRIVATE PkgConfig::CMOCKA)

unit_tests(http LIBS http_fixture PkgConfig::CURL TESTS
    auth http http_crowd http_files http_later http_tls negotiate
    origin router static_files target)
set_tests_properties(unit_http_tls PROPERTIES SKIP_RETURN_CODE 77)
unit_threads(http http_crowd http_files http_later http_tls)
