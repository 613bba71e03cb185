# SPDX-License-Identifier: Apache-2.0
# fetch_vendor.cmake - installs the libraries in web/package-lock.json: by npm, or by download from
# the registry that the user names
cmake_minimum_required(VERSION 3.21)

# base64_to_hex(TEXT VARIABLE)
function(base64_to_hex text variable)
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${text} COMMAND base64 -d COMMAND od -An -v -tx1
        OUTPUT_VARIABLE hex COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE "[ \n]" "" hex "${hex}")
    set(${variable} ${hex} PARENT_SCOPE)
endfunction()

# fetch(FOLDER ENTRY): download a package of the lock file, verify its hash and unpack it.
function(fetch folder entry)
    string(REGEX REPLACE "^node_modules/" "" name ${folder})
    string(REGEX REPLACE "^.*/" "" base ${name})
    string(JSON version GET "${entry}" version)
    string(JSON integrity GET "${entry}" integrity)
    string(REGEX REPLACE "^sha512-" "" integrity ${integrity})
    base64_to_hex(${integrity} hash)
    set(archive ${DIR}/${base}.tgz)
    file(DOWNLOAD ${REGISTRY}/${name}/-/${base}-${version}.tgz ${archive} EXPECTED_HASH SHA512=${hash}
        TIMEOUT 120)
    file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${DIR}/${base})
    file(GLOB unpacked ${DIR}/${base}/*)
    get_filename_component(above ${DIR}/${folder} DIRECTORY)
    file(MAKE_DIRECTORY ${above})
    file(RENAME ${unpacked} ${DIR}/${folder})
    file(REMOVE_RECURSE ${archive} ${DIR}/${base})
endfunction()

file(MAKE_DIRECTORY ${DIR})
if(NOT NPM)
    file(REMOVE_RECURSE ${DIR}/node_modules)
    file(READ ${SOURCE}/package-lock.json lock)
    string(JSON packages GET "${lock}" packages)
    string(JSON last LENGTH "${packages}")
    math(EXPR last "${last} - 1")
    foreach(i RANGE ${last})
        string(JSON folder MEMBER "${packages}" ${i})
        string(JSON entry GET "${packages}" "${folder}")
        string(JSON is_dev ERROR_VARIABLE is_needed GET "${entry}" dev)
        if(folder AND is_needed)
            fetch(${folder} "${entry}")
        endif()
    endforeach()
    return()
endif()
foreach(name package.json package-lock.json .npmrc)
    configure_file(${SOURCE}/${name} ${DIR}/${name} COPYONLY)
endforeach()
# At most one retry: by default npm waits for more than a minute without a network.
execute_process(
    COMMAND ${NPM} ci --ignore-scripts --omit=dev --no-audit --no-fund --prefer-offline
        --fetch-retries=1 --fetch-retry-mintimeout=500 --fetch-retry-maxtimeout=1000
    WORKING_DIRECTORY ${DIR} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "npm ci failed (${result}):\n${output}\n"
        "The web UI needs the packages preact and d3-scale. Without a network, configure with "
        "-DRINGBENCH_UI_VENDOR_DIR=DIR (a node_modules folder that has them) "
        "or without the web UI: -DRINGBENCH_UI=OFF.")
endif()
