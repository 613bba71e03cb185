# cmake -D SOURCE=DIR -P layers.cmake: no file includes what stands above its own folder.
# Of each line, a folder may include those to its left; first what all of them may.
cmake_minimum_required(VERSION 3.18)
set(all common/base common/spec common/result common/ncclog)
set(lines
    "server/http,server/rendezvous,server/finding,server/summary,server/store,server/analysis,server/plan,server/import,server/nodes,server/launch,server/runs,server/render,server/api,server"
    "agent/config,agent/link,agent/process,agent/worker/base,agent/worker/data,agent/worker/group,agent/worker/bench,agent/worker/sim,agent/fleet"
    "agent/config,agent/link,agent/ncclog,agent/reaper,agent/machine,agent/bind,agent/process,agent/inventory,agent"
    "agent/worker/base,agent/worker/data,agent/worker/group,agent/worker/bench,agent/worker/host"
    "agent/worker/base,agent/worker/data,agent/worker/group,agent/worker/bench,agent/worker/nccl"
    "agent/worker/base,agent/worker/data,agent/worker/group,agent/worker/bench,agent/worker/sim")

set(folders "")
foreach(line IN LISTS lines)
    string(REPLACE "," ";" line "${line}")
    set(below "")
    foreach(folder IN LISTS all line)
        list(APPEND below ${folder})
        list(APPEND folders ${folder})
        set(may_${folder} ${below})
    endforeach()
endforeach()

set(faults "")
file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/common/*.[ch] ${SOURCE}/server/*.[ch]
    ${SOURCE}/agent/*.[ch])
foreach(file IN LISTS files)
    get_filename_component(folder ${file} DIRECTORY)
    if(NOT folder IN_LIST folders)
        list(APPEND faults "${file}: its folder has no place in the order of tests/unit/check/layers.cmake")
        continue()
    endif()
    file(STRINGS ${SOURCE}/${file} includes REGEX "^#include \"[^\"]+/[^\"]+\"")
    foreach(include IN LISTS includes)
        string(REGEX REPLACE "^#include \"(.*)/[^/]*\".*" "\\1" from "${include}")
        if(NOT from IN_LIST may_${folder})
            list(APPEND faults "${file}: ${include} runs back up")
        endif()
    endforeach()
endforeach()
list(LENGTH files n)
if(faults OR n LESS 100)
    list(JOIN faults "\n" text)
    message(FATAL_ERROR "${n} files\n${text}")
endif()
