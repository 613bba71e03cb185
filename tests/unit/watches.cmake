unit_tests(watches LIBS rb_watches rb_common TESTS calendar sweep)
