unit_test(env_policy rb_common)
