unit_test(change_points rb_analysis m)
