# SPDX-License-Identifier: Apache-2.0
# The warnings that every C file of ours is built with.
set(RINGBENCH_WARNINGS
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla
    -Wformat=2 -Wimplicit-fallthrough -Wconversion -Wno-sign-conversion
    -Wdouble-promotion -Wnull-dereference)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # snprintf cuts long texts on purpose, and what gcc says of it depends on the
    # sanitizers and the optimisation level.
    list(APPEND RINGBENCH_WARNINGS -Wduplicated-cond -Wduplicated-branches -Wlogical-op
        -Wno-format-truncation)
endif()
if(RINGBENCH_WERROR)
    list(APPEND RINGBENCH_WARNINGS -Werror)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C>:${RINGBENCH_WARNINGS}>")

# What distributions build with. Sanitizers see more than these do.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT RINGBENCH_FUZZ)
    add_compile_options("$<$<COMPILE_LANGUAGE:C>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
    add_link_options(-Wl,-z,relro,-z,now)
endif()
