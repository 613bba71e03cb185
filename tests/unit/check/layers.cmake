# SPDX-License-Identifier: Apache-2.0
# cmake -D SOURCE=DIR -P layers.cmake: no file includes what stands above its own folder.
# Of each line, a folder may include those to its left; first what all of them may.
cmake_minimum_required(VERSION 3.18)
set(all common/base common/spec common/result common/ncclog)
set(lines
    "server/http,server/rendezvous,server/finding,server/summary,server/store,server/analysis,server/plan,server/import,server/nodes,server/launch,server/runs,server/watches,server/render,server/api,server"
    "agent/config,agent/machine,agent/case,agent/link,agent/worker/base,agent/worker/data,agent/worker/group,agent/worker/bench,agent/worker/sim,agent/fleet"
    "agent/config,agent/machine,agent/case,agent/link,agent/bind,agent/process,agent/inventory,agent"
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

# The same inside server/runs, by modules: of each, its files; it may include the headers of
# those before it. No file outside a module includes the headers of its own structs.
set(modules model log cases agents judge queue)
set(model blame history imported measured_run pace run run_conditions run_edit run_json run_metrics
    run_nodes run_plan)
set(log counters run_log services wake)
set(cases case_blame case_start case_transport cases live_case live_case_state)
set(agents agent_lines agents node_claim)
set(judge judge_queue last_checks last_figures)
set(queue active_run recover requests rounds run_end scheduler scheduler_state)
set(own live_case_state active_run scheduler_state)
set(below "")
foreach(module IN LISTS modules)
    list(APPEND below ${${module}})
    foreach(name IN LISTS ${module})
        set(module_of_${name} ${module})
        set(may_${name} ${below})
    endforeach()
endforeach()

file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/server/*.[ch])
foreach(file IN LISTS files)
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(name ${file} NAME_WE)
    if(NOT folder STREQUAL server/runs)
        set(name outside)
    elseif(NOT DEFINED module_of_${name})
        list(APPEND faults "${file}: it is in no module of tests/unit/check/layers.cmake")
        continue()
    endif()
    file(STRINGS ${SOURCE}/${file} includes REGEX "^#include \"server/runs/")
    foreach(include IN LISTS includes)
        get_filename_component(header ${include} NAME_WE)
        if(NOT name STREQUAL outside AND NOT header IN_LIST may_${name})
            list(APPEND faults "${file}: ${header}.h runs back up")
        endif()
        if(header IN_LIST own AND NOT "${module_of_${name}}" STREQUAL "${module_of_${header}}")
            list(APPEND faults "${file}: ${header}.h is the own header of ${module_of_${header}}")
        endif()
    endforeach()
endforeach()

if(faults OR n LESS 100)
    list(JOIN faults "\n" text)
    message(FATAL_ERROR "${n} files\n${text}")
endif()
