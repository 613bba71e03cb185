unit_test(control rb_worker rb_common)
