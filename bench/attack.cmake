add_executable(http_floor http_floor.c)
