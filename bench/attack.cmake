# SPDX-License-Identifier: Apache-2.0
add_executable(http_floor http_floor.c)
