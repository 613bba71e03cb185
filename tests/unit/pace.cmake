unit_test(pace rb_scheduler rb_common)
