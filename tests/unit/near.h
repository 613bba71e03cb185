/* near.h - assert_near is in test.h */
#include "tests/unit/test.h"
