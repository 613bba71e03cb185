# SPDX-License-Identifier: Apache-2.0
unit_tests(watches LIBS rb_watches rb_plan rb_analysis rb_common m TESTS actions calendar standing sweep watch_year)
