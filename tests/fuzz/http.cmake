fuzz_test(http_text rb_http)
