# SPDX-License-Identifier: Apache-2.0
# Write the bytes of INPUT as the array NAME (and NAME_len) into the C file OUTPUT; a NUL
# follows them, for what is text.
file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR length "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\n"
    "const unsigned char ${NAME}[] = {\n${bytes}0x00};\n"
    "const size_t ${NAME}_len = ${length};\n")
