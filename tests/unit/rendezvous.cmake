unit_test(tcpstore_wire rb_rendezvous rb_common)
unit_test(tcpstore_kv rb_rendezvous rb_common)
unit_test(tcpstore_out rb_rendezvous rb_common)
unit_test(tcpstore_standing rb_rendezvous rb_common)
unit_test(rendezvous_peer rb_rendezvous rb_common)
unit_test(rendezvous rb_rendezvous rb_common)
unit_test(rendezvous_limits rb_rendezvous rb_common)
unit_test(rendezvous_standing rb_rendezvous rb_common)

# Real PyTorch clients, where there are any: the distribution's python has its packages.
find_program(PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(PYTHON3 python3)
if(PYTHON3)
    add_test(NAME torch_store COMMAND ${PYTHON3}
        ${CMAKE_SOURCE_DIR}/tests/integration/torch_store.py $<TARGET_FILE:tcpstore_serve>)
    set_tests_properties(torch_store PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
endif()
