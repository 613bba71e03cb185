# SPDX-License-Identifier: Apache-2.0
unit_tests(rendezvous LIBS rb_rendezvous rb_common TESTS
    rendezvous rendezvous_limits rendezvous_peer rendezvous_standing
    tcpstore_kv tcpstore_out tcpstore_standing tcpstore_wire)
unit_threads(rendezvous rendezvous_limits rendezvous_standing)

# Real PyTorch clients, where there are any: the distribution's python has its packages.
find_program(PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(PYTHON3 python3)
if(PYTHON3)
    add_test(NAME torch_store COMMAND ${PYTHON3}
        ${CMAKE_SOURCE_DIR}/tests/integration/torch_store.py $<TARGET_FILE:tcpstore_serve>)
    set_tests_properties(torch_store PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
endif()
