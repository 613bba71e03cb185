# copy_files.cmake - the UI's files as one edits them, beside the chart library
string(REPLACE "|" ";" FILES "${FILES}")
file(REMOVE_RECURSE ${TO}/js ${TO}/css)
foreach(name ${FILES})
    get_filename_component(folder ${TO}/${name} DIRECTORY)
    file(COPY ${FROM}/${name} DESTINATION ${folder})
endforeach()
