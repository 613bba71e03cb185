/* noise.h - random numbers that are a function of a seed and of what they are for: the
 * same on every rank, in every run, however long anything takes */
#ifndef RINGBENCH_WORKER_SIM_NOISE_H
#define RINGBENCH_WORKER_SIM_NOISE_H

#include <stdint.h>

/* A new seed for the part `key` of what `seed` is for. */
uint64_t noise_split(uint64_t seed, uint64_t key);

/* Above 0, at most 1: number `key` of those that `seed` is for. */
double noise_uniform(uint64_t seed, uint64_t key);

/* From the normal distribution with mean 0 and standard deviation 1. */
double noise_normal(uint64_t seed);

#endif
