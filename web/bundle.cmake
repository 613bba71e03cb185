# SPDX-License-Identifier: Apache-2.0
# bundle.cmake - bundles the web UI. TO gets index.html and assets/: files named by content hash, so
# that they can be cached forever, each with a gzip twin. REPORT is report.html with everything
# inlined. PACKAGES is the folder of the libraries.
set(made ${TO}.new)
# The libraries' licences require a notice in every copy.
set(notice "/*! with preact (https://preactjs.com, MIT licence, Copyright (c) Jason Miller) and \
d3-scale (https://d3js.org, ISC licence, Copyright Mike Bostock) */")
set(esbuild ${ESBUILD} "--banner:js=${notice}" --bundle --minify --target=es2022 --log-level=warning
    --tsconfig=${FROM}/tsconfig.json
    --alias:preact=${PACKAGES}/preact --alias:d3-scale=${PACKAGES}/d3-scale)
file(REMOVE_RECURSE ${made})
file(MAKE_DIRECTORY ${made}/assets)
file(READ ${FROM}/index.html index)
file(READ ${FROM}/report.html report)

# Each script and style sheet in index.html is an entry point. A module that main.jsx imports
# dynamically becomes a file of its own. Shared chunks are preloaded by index.html.
string(REGEX MATCHALL "\"/(js|css)/[^\"]+\"" entries "${index}")
string(REGEX REPLACE "\"/([^\"]+)\"" "\\1" entries "${entries}")
execute_process(COMMAND ${esbuild} ${entries} --charset=utf8 --format=esm --splitting
    --outdir=${made}/assets --entry-names=[name]-[hash] --chunk-names=[name]-[hash]
    --metafile=${made}.json WORKING_DIRECTORY ${FROM} COMMAND_ERROR_IS_FATAL ANY)
file(READ ${made}.json meta)
string(JSON outputs GET "${meta}" outputs)
string(JSON count LENGTH "${outputs}")
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
    string(JSON output MEMBER "${outputs}" ${i})
    string(JSON entry ERROR_VARIABLE none GET "${outputs}" ${output} entryPoint)
    get_filename_component(name ${output} NAME)
    if(none)
        string(REPLACE "<script type=\"module\"" "<link rel=\"modulepreload\" \
href=\"/assets/${name}\">\n<script type=\"module\"" index "${index}")
    endif()
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
set(licences)
file(GLOB packages ${PACKAGES}/preact ${PACKAGES}/d3-* ${PACKAGES}/internmap)
foreach(package ${packages})
    get_filename_component(name ${package} NAME)
    file(READ ${package}/LICENSE licence)
    string(APPEND licences "${name}:\n\n${licence}\n")
endforeach()
file(WRITE ${made}/licenses.txt "${licences}")
file(REMOVE_RECURSE ${TO})
file(RENAME ${made} ${TO})
file(REMOVE ${made}.json)

# Hash of a text in the format of a content security policy: 'sha256-' and base64.
function(policy_hash text out)
    set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
    string(SHA256 hex "${text}")
    set(base64)
    foreach(at RANGE 0 60 6)
        string(SUBSTRING ${hex}00 ${at} 6 group)
        foreach(shift 18 12 6 0)
            math(EXPR digit "(0x${group} >> ${shift}) & 63")
            string(SUBSTRING ${digits} ${digit} 1 digit)
            string(APPEND base64 ${digit})
        endforeach()
    endforeach()
    # 32 bytes are 43 base64 digits and one padding character.
    string(SUBSTRING ${base64} 0 43 base64)
    set(${out} "'sha256-${base64}='" PARENT_SCOPE)
endfunction()

# Bundle a file of the report. Returns its text and hash.
function(bundle_text entry text hash)
    execute_process(COMMAND ${esbuild} ${entry} --charset=ascii --format=iife
        WORKING_DIRECTORY ${FROM} OUTPUT_VARIABLE made COMMAND_ERROR_IS_FATAL ANY)
    if(made MATCHES "</(script|style)|<!--")
        message(FATAL_ERROR "${entry} has text that cannot be embedded in a page")
    endif()
    policy_hash("${made}" made_hash)
    set(${text} "${made}" PARENT_SCOPE)
    set(${hash} ${made_hash} PARENT_SCOPE)
endfunction()

bundle_text(css/page.css css css_hash)
bundle_text(js/theme_boot.js boot boot_hash)
bundle_text(js/report.jsx js js_hash)
string(REPLACE "@POLICY@" "default-src 'none'; script-src ${boot_hash} ${js_hash}; \
style-src ${css_hash}; img-src data: blob:; base-uri 'none'; form-action 'none'"
    report "${report}")
string(REPLACE "<link rel=\"stylesheet\" href=\"/css/page.css\">" "<style>${css}</style>"
    report "${report}")
string(REPLACE "<script src=\"/js/theme_boot.js\"></script>" "<script>${boot}</script>"
    report "${report}")
string(REPLACE "<script src=\"/js/report.jsx\"></script>" "<script>${js}</script>"
    report "${report}")
if(report MATCHES "(src|href)=\"/")
    message(FATAL_ERROR "report.html names a file that was not bundled")
endif()
file(WRITE ${REPORT} "${report}")
