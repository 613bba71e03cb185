# SPDX-License-Identifier: Apache-2.0
unit_tests(trends LIBS rb_analysis m TESTS change_points lasting lasting_changes trend)
