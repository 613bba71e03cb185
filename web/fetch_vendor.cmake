# fetch_vendor.cmake - npm ci in the build folder, and what to do when that fails
file(MAKE_DIRECTORY ${DIR})
foreach(name package.json package-lock.json .npmrc)
    configure_file(${SOURCE}/${name} ${DIR}/${name} COPYONLY)
endforeach()
# One retry at most: without a network npm would otherwise wait for more than a minute.
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
