# SPDX-License-Identifier: Apache-2.0
# package_files.cmake - run by cpack on what it is about to pack: what packages have besides the
# installed files, and a Debian package besides that
# COMMAND_ERROR_IS_FATAL needs CMake 3.19.
macro(execute_or_fail)
    execute_process(${ARGV} RESULT_VARIABLE result)
    if(result)
        message(FATAL_ERROR "${ARGV}: ${result}")
    endif()
endmacro()

set(source ${CPACK_RINGBENCH_SOURCE})
set(root ${CPACK_TEMPORARY_DIRECTORY})

# The workers keep the names of their functions, which their stacks are told with.
foreach(program server/usr/bin/ringbench-server server/usr/bin/ringbench-sim
        agent/usr/bin/ringbench-agent agent/usr/bin/ringbench-case)
    execute_or_fail(COMMAND ${CPACK_RINGBENCH_STRIP} ${root}/${program})
endforeach()
file(GLOB workers ${root}/agent/usr/bin/ringbench-worker-*)
execute_or_fail(COMMAND ${CPACK_RINGBENCH_STRIP} --strip-debug ${workers})

foreach(part server agent)
    file(COPY ${source}/deploy/systemd/${part}.conf DESTINATION ${root}/${part}/etc/ringbench)
endforeach()
# Whatever the umask here is.
execute_or_fail(COMMAND chmod -R u=rwX,go=rX ${root})
if(NOT CPACK_GENERATOR STREQUAL DEB)
    return()
endif()

foreach(tool dpkg-shlibdeps file)
    find_program(found_${tool} ${tool})
    if(NOT found_${tool})
        message(FATAL_ERROR "There is no ${tool}: the package could not say which libraries it "
            "needs. scripts/install-deps installs it (Debian: dpkg-dev and file).")
    endif()
endforeach()
file(COPY ${source}/deploy/debian/lintian-overrides DESTINATION ${root}/agent/usr/share/lintian/overrides)
file(RENAME ${root}/agent/usr/share/lintian/overrides/lintian-overrides
    ${root}/agent/usr/share/lintian/overrides/ringbench-agent)

# Debian has the licence's text; those of the page's libraries came with them.
file(REMOVE ${root}/server/usr/share/doc/ringbench/LICENSE)
file(READ ${source}/deploy/debian/copyright copyright)
set(copyright_of_agent "${copyright}")
set(copyright_of_server "${copyright}")
set(libraries ${root}/server/usr/share/ringbench/web/licenses.txt)
if(EXISTS ${libraries})
    file(READ ${libraries} licences)
    file(REMOVE ${libraries})
    string(APPEND copyright_of_server
        "\nParts of /usr/share/ringbench/web/assets/*.js:\n\n${licences}")
endif()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(part server agent)
    set(doc ${root}/${part}/usr/share/doc/ringbench-${part})
    file(WRITE ${doc}/copyright "${copyright_of_${part}}")
    file(WRITE ${doc}/changelog "ringbench (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
        "  * Built from its sources.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    file(GLOB pages ${root}/${part}/usr/share/man/man1/*.1)
    execute_or_fail(COMMAND gzip -9nf ${doc}/changelog ${pages})
endforeach()

execute_or_fail(COMMAND chmod -R u=rwX,go=rX ${root})

# The same sources make the same package.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
    execute_or_fail(COMMAND find ${root} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} +)
endif()
