unit_test(run rb_scheduler rb_common)
unit_test(node rb_scheduler rb_common)
unit_test(placement rb_scheduler rb_common)
unit_test(scheduler rb_scheduler rb_store rb_rendezvous rb_common PkgConfig::UV)
