# SPDX-License-Identifier: Apache-2.0
unit_tests(programs LIBS rb_agent rb_api rb_runs rb_common TESTS
    metric program program_schema programs run_matrix safe_regex)
