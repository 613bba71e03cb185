# SPDX-License-Identifier: Apache-2.0
unit_tests(import LIBS rb_import TESTS import torch_log)
unit_define(import FILES_DIR="${CMAKE_SOURCE_DIR}/tests/vectors/import")
