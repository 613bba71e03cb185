# SPDX-License-Identifier: Apache-2.0
fuzz_test(import rb_import)
set(nccl_log_corpus ${CMAKE_SOURCE_DIR}/tests/data/nccl)
fuzz_test(nccl_log rb_import)
