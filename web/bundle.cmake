# bundle.cmake - index.html and what it names, each in one file of TO/assets whose name has
# the hash of its content: a server may call it immutable. Each has a compressed twin.
set(made ${TO}.new)
file(REMOVE_RECURSE ${made})
file(MAKE_DIRECTORY ${made}/assets)
file(READ ${FROM}/index.html index)

# Every script and style sheet that index.html names is an entry; what they import goes in.
string(REGEX MATCHALL "\"/(js|css)/[^\"]+\"" entries "${index}")
string(REGEX REPLACE "\"/([^\"]+)\"" "\\1" entries "${entries}")
execute_process(
    COMMAND ${ESBUILD} ${entries} --bundle --minify --charset=utf8 --target=es2022
        --format=esm --log-level=warning --outdir=${made}/assets --entry-names=[name]-[hash]
        --metafile=${made}.json
    WORKING_DIRECTORY ${FROM} COMMAND_ERROR_IS_FATAL ANY)
file(READ ${made}.json meta)
string(JSON outputs GET "${meta}" outputs)
string(JSON count LENGTH "${outputs}")
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
    string(JSON output MEMBER "${outputs}" ${i})
    string(JSON entry GET "${outputs}" ${output} entryPoint)
    get_filename_component(name ${output} NAME)
    string(REPLACE "\"/${entry}\"" "\"/assets/${name}\"" index "${index}")
endforeach()

file(SHA256 ${FROM}/icon.svg hash)
string(SUBSTRING ${hash} 0 8 hash)
file(COPY_FILE ${FROM}/icon.svg ${made}/assets/icon-${hash}.svg)
string(REPLACE "\"/icon.svg\"" "\"/assets/icon-${hash}.svg\"" index "${index}")
file(WRITE ${made}/index.html "${index}")
if(index MATCHES "\"/(js|css|icon)")
    message(FATAL_ERROR "index.html names a file that was not bundled")
endif()

file(GLOB_RECURSE texts ${made}/*.html ${made}/*.css ${made}/*.js ${made}/*.svg)
execute_process(COMMAND ${GZIP} -9 -n -k ${texts} COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${FROM}/vendor/LICENSE ${made}/uPlot-LICENSE.txt)
file(REMOVE_RECURSE ${TO})
file(RENAME ${made} ${TO})
