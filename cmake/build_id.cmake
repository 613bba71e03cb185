# SPDX-License-Identifier: Apache-2.0
# cmake -D SOURCE=DIR -D OUT=FILE -P build_id.cmake: a header with the hash of what workers
# are made of. The same sources give the same hash, wherever and whenever they are built; the
# file is written anew only when it changes.
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/common/*.[ch]
    ${SOURCE}/common/base/env_names/*.txt ${SOURCE}/agent/worker/*.[ch]
    ${SOURCE}/agent/worker/*.cu)
list(SORT sources)
set(all "")
foreach(source ${sources})
    file(SHA256 ${SOURCE}/${source} hash)
    string(APPEND all "${source} ${hash}\n")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 12 id)
set(text "#define RINGBENCH_BUILD \"${id}\"\n")
set(before "")
if(EXISTS ${OUT})
    file(READ ${OUT} before)
endif()
if(NOT before STREQUAL text)
    file(WRITE ${OUT} "${text}")
endif()
