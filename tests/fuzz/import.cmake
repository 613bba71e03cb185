fuzz_test(import rb_import)
