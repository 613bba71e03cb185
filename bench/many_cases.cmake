# SPDX-License-Identifier: Apache-2.0
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka>=1.1.5)
add_executable(many_cases many_cases.c)
target_link_libraries(many_cases PRIVATE rb_runs rb_store rb_rendezvous rb_common
    PkgConfig::CMOCKA PkgConfig::UV)
