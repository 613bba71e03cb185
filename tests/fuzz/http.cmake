# SPDX-License-Identifier: Apache-2.0
fuzz_test(http_text rb_http)
