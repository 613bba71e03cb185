# The .deb that cpack makes in the build folder.
set(RINGBENCH_CONTACT "ringbench maintainers <ringbench@localhost>" CACHE STRING
    "Who answers for the .deb: NAME <ADDRESS>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringbench)
set(CPACK_PACKAGE_CONTACT "${RINGBENCH_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "collective benchmarks across nodes, with one HTTP request")
set(CPACK_PACKAGE_DESCRIPTION "A server takes requests over HTTP, an agent on each node starts workers,
they form a communicator and run the collectives that were asked for, and
the results show in curl and in a browser while they are measured.
.
This package has the server with its web pages, the agent, and the workers
for CPU memory, for GPUs (NCCL) and for simulations, and a script for shells.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS passwd)
# The script ringbench is of no use without it.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS curl)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(debian ${CMAKE_SOURCE_DIR}/deploy/debian)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/conffiles ${debian}/postinst ${debian}/prerm
    ${debian}/postrm)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian_files.cmake)
set(CPACK_RINGBENCH_SOURCE ${CMAKE_SOURCE_DIR})
include(CPack)
