# SPDX-License-Identifier: Apache-2.0
unit_tests(store LIBS rb_summary rb_store rb_analysis rb_common m TESTS
    event_samples store store_artifacts store_faults store_pages
    store_runs store_trends summary thin)
unit_define(summary VECTORS_DIR="${CMAKE_SOURCE_DIR}/tests/vectors")
unit_threads(store store_artifacts store_faults store_pages store_runs
    store_trends summary)
