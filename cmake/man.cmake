# SPDX-License-Identifier: Apache-2.0
# The programs' manual pages, of what they answer to --help: not where they can't run here.
set(pages_of_server ringbench ringbench-server ringbench-sim)
set(pages_of_agent ringbench-agent ringbench-case ringbench-worker-host ringbench-worker-nccl
    ringbench-worker-sim)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "Manual pages: left out, the programs don't run here")
    return()
endif()
list(JOIN pages_of_server "(1), " see)
set(see "${see}(1), ringbench-agent(1)")
set(pages "")
foreach(part server agent)
    foreach(program IN LISTS pages_of_${part})
        set(run ${CMAKE_BINARY_DIR}/bin/${program})
        set(needs ${run})
        if(TARGET ${program})
            set(needs ${program})
            list(PREPEND run ${CMAKE_CROSSCOMPILING_EMULATOR})
        elseif(NOT program STREQUAL ringbench)
            continue()
        endif()
        set(page ${CMAKE_BINARY_DIR}/man/${program}.1)
        list(JOIN run " " run)
        add_custom_command(OUTPUT ${page}
            COMMAND sh -c "${run} --help >'${page}.txt' && \
awk -v program=${program} -v version=${PROJECT_VERSION} -v see='${see}' -f '${CMAKE_SOURCE_DIR}/cmake/man.awk' \
'${page}.txt' >'${page}'"
            DEPENDS ${needs} ${CMAKE_SOURCE_DIR}/cmake/man.awk
            VERBATIM COMMENT "Writing ${program}'s manual page")
        install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${part})
        list(APPEND pages ${page})
    endforeach()
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man)
add_custom_target(man ALL DEPENDS ${pages})
