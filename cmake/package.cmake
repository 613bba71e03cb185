# SPDX-License-Identifier: Apache-2.0
# The packages that cpack makes in the build folder: one for a head node, one for nodes. .debs, or with
# `cpack -G RPM` .rpms, which need rpmbuild and are for the system that they are built on.
set(RINGBENCH_CONTACT "ringbench maintainers <nobody@ringbench.invalid>" CACHE STRING
    "Who answers for the packages: NAME <ADDRESS>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringbench)
set(CPACK_PACKAGE_CONTACT "${RINGBENCH_CONTACT}")
set(CPACK_PACKAGE_VENDOR ringbench)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL server agent)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The one package of before.
set(CPACK_DEBIAN_PACKAGE_CONFLICTS ringbench)
set(CPACK_DEBIAN_PACKAGE_REPLACES ringbench)

# The first line of a description is its summary.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(about "A server takes requests over HTTP, an agent on each node starts workers,
they form a communicator and run the collectives that were asked for, and
the results show in curl and in a browser while they are measured.
.
This package has")
set(CPACK_DEBIAN_SERVER_PACKAGE_NAME ringbench-server)
set(CPACK_DEBIAN_SERVER_DESCRIPTION "collective benchmarks across nodes, with one HTTP request
${about} the server with its web pages, a script for shells, and
ringbench-sim, which simulates a fleet for the demo.")
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS "systemd | systemd-standalone-sysusers | systemd-sysusers")
# The script ringbench is of no use without it.
set(CPACK_DEBIAN_SERVER_PACKAGE_RECOMMENDS curl)
set(CPACK_DEBIAN_AGENT_PACKAGE_NAME ringbench-agent)
# Its worker loads libucp where it is.
set(CPACK_DEBIAN_AGENT_PACKAGE_SUGGESTS libucx0)
set(CPACK_DEBIAN_AGENT_DESCRIPTION "nodes' part of ringbench, which measures collectives
${about} the agent and its workers: for CPU memory, for GPUs
(with the NCCL that it finds there) and for simulations.")

set(debian ${CMAKE_SOURCE_DIR}/deploy/debian)
foreach(part server agent)
    set(secret tokens)
    if(part STREQUAL agent)
        set(secret agent.token)
    endif()
    string(TOUPPER ${part} name)
    foreach(file conffiles postinst prerm postrm)
        configure_file(${debian}/${file}.in ${CMAKE_BINARY_DIR}/debian/${part}/${file} @ONLY)
        list(APPEND CPACK_DEBIAN_${name}_PACKAGE_CONTROL_EXTRA
            ${CMAKE_BINARY_DIR}/debian/${part}/${file})
    endforeach()
    foreach(file post preun postun)
        configure_file(${CMAKE_SOURCE_DIR}/deploy/rpm/${file}.in ${CMAKE_BINARY_DIR}/rpm/${part}/${file} @ONLY)
    endforeach()
endforeach()

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP Applications/System)
# The pre-build script does it, and leaves the workers the names of their functions.
set(CPACK_RPM_SPEC_MORE_DEFINE
    "%define debug_package %{nil}\n%define __os_install_post %{nil}\n%define _build_id_links none")
set(CPACK_PACKAGE_RELOCATABLE OFF)
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /etc /usr/lib/systemd /usr/lib/systemd/system
    /usr/lib/sysusers.d /usr/lib/tmpfiles.d /usr/share/man /usr/share/man/man1
    /usr/share/bash-completion /usr/share/bash-completion/completions)
foreach(part SERVER AGENT)
    string(TOLOWER ${part} name)
    set(CPACK_RPM_${part}_PACKAGE_NAME ringbench-${name})
    foreach(script POST_INSTALL=post PRE_UNINSTALL=preun POST_UNINSTALL=postun)
        string(REGEX REPLACE "^.*=" "" file ${script})
        string(REGEX REPLACE "=.*$" "" script ${script})
        set(CPACK_RPM_${part}_${script}_SCRIPT_FILE ${CMAKE_BINARY_DIR}/rpm/${name}/${file})
    endforeach()
    set(CPACK_RPM_${part}_USER_FILELIST "%config(noreplace) /etc/ringbench/${name}.conf")
    # The first line of what Debian calls a description is the summary.
    set(description "${CPACK_DEBIAN_${part}_DESCRIPTION}")
    string(FIND "${description}" "\n" end)
    string(SUBSTRING "${description}" 0 ${end} CPACK_RPM_${part}_PACKAGE_SUMMARY)
    math(EXPR end "${end} + 1")
    string(SUBSTRING "${description}" ${end} -1 description)
    string(REPLACE "\n.\n" "\n\n" CPACK_RPM_${part}_PACKAGE_DESCRIPTION "${description}")
endforeach()
set(CPACK_RPM_SERVER_PACKAGE_REQUIRES systemd)

set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package_files.cmake)
set(CPACK_RINGBENCH_SOURCE ${CMAKE_SOURCE_DIR})
set(CPACK_RINGBENCH_STRIP ${CMAKE_STRIP})
include(CPack)
