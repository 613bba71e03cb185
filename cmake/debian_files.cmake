# debian_files.cmake - run by cpack on what it is about to pack: what a Debian package has
# besides the installed files
foreach(tool dpkg-shlibdeps file)
    find_program(found_${tool} ${tool})
    if(NOT found_${tool})
        message(FATAL_ERROR "There is no ${tool}: the package could not say which libraries it "
            "needs. scripts/install-deps installs it (Debian: dpkg-dev and file).")
    endif()
endforeach()
set(source ${CPACK_RINGBENCH_SOURCE})
set(root ${CPACK_TEMPORARY_DIRECTORY})
set(doc ${root}/usr/share/doc/ringbench)

# The workers keep the names of their functions, which their stacks are told with.
foreach(program ${root}/usr/bin/ringbench-server ${root}/usr/bin/ringbench-agent
        ${root}/usr/bin/ringbench-reaper ${root}/usr/bin/ringbench-sim)
    execute_process(COMMAND strip ${program} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB workers ${root}/usr/bin/ringbench-worker-*)
execute_process(COMMAND strip --strip-debug ${workers} COMMAND_ERROR_IS_FATAL ANY)

file(COPY ${source}/deploy/systemd/server.conf ${source}/deploy/systemd/agent.conf
    DESTINATION ${root}/etc/ringbench)

# Debian has the licence's text; that of the chart library came with it.
file(REMOVE ${doc}/LICENSE)
set(chart ${root}/usr/share/ringbench/web/uPlot-LICENSE.txt)
file(READ ${source}/deploy/debian/copyright copyright)
if(EXISTS ${chart})
    file(READ ${chart} licence)
    file(REMOVE ${chart})
    string(APPEND copyright "\nuPlot, a part of /usr/share/ringbench/web/assets/main-*.js:\n\n${licence}\n")
endif()
file(WRITE ${doc}/copyright "${copyright}")

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "ringbench (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
    "  * Built from its sources.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
execute_process(COMMAND gzip -9nf ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)

# Whatever the umask here is.
execute_process(COMMAND chmod -R u=rwX,go=rX ${root} COMMAND_ERROR_IS_FATAL ANY)
