/* noise.c - reproducible random numbers */
#include "agent/worker/sim/noise.h"

#include <math.h>

#define TURN 6.283185307179586

/* The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, OOPSLA 2014). */
uint64_t noise_split(uint64_t seed, uint64_t key)
{
    uint64_t z = seed + (key + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double noise_uniform(uint64_t seed, uint64_t key)
{
    return ((double)(noise_split(seed, key) >> 11) + 1) / 9007199254740992.0;
}

/* Box and Muller's transform. */
double noise_normal(uint64_t seed)
{
    return sqrt(-2 * log(noise_uniform(seed, 0))) * cos(TURN * noise_uniform(seed, 1));
}
