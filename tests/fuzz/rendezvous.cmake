fuzz_test(tcpstore rb_rendezvous rb_common)
