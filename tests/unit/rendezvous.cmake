unit_test(tcpstore_wire rb_rendezvous rb_common)
unit_test(tcpstore_kv rb_rendezvous rb_common)
unit_test(rendezvous_peer rb_rendezvous rb_common)
unit_test(rendezvous rb_rendezvous rb_common)
