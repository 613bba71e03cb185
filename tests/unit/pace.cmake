unit_test(pace rb_scheduler rb_common)
unit_test(history rb_scheduler rb_common)
