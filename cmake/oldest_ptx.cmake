# SPDX-License-Identifier: Apache-2.0
# cmake -D NVCC=... -D PTX=FILE -P oldest_ptx.cmake: nvcc writes PTX of its own version of
# the instruction set, which drivers older than it refuse whatever it uses. What needs no
# more than version 7.0, the first with compute capability 8.0 (CUDA 11.0), is given that
# number, if the assembler agrees; else it stays as it is.
file(READ ${PTX} text)
string(REGEX REPLACE "\n\\.version [0-9.]+" "\n.version 7.0" older "${text}")
file(WRITE ${PTX}.older.ptx "${older}")
execute_process(COMMAND ${NVCC} -cubin -arch=sm_80 -o ${PTX}.older.cubin ${PTX}.older.ptx
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(status EQUAL 0)
    file(WRITE ${PTX} "${older}")
endif()
