unit_test(store rb_store rb_common)
unit_test(store_faults rb_store rb_common)
unit_test(store_cursor rb_store rb_common)
