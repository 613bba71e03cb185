unit_test(split rb_common)
unit_test(traffic rb_common)
