/* The same random numbers on every system, and memory whose end a checker can guard. */
#ifndef RANDOM_H
#define RANDOM_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 1;

static inline uint32_t random_bits(void) { /* splitmix64 */
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32);
}

static inline int random_int(int low, int high) { return low + (int)(random_bits() % (uint32_t)(high - low + 1)); }

/* About normal with deviation 1; now and then zero, tiny or large. */
static inline float random_float(void) {
    float sum = -6;
    for (int i = 0; i < 12; i++) sum += (float)(random_bits() >> 8) / 16777216.0f;
    switch (random_bits() % 64) {
    case 0: return 0;
    case 1: return sum * 1e-20f;
    case 2: return sum * 50;
    default: return sum;
    }
}

static inline void *new_bytes(size_t bytes) {
    void *p = malloc(bytes ? bytes : 1);
    if (!p) exit(3);
    return p;
}

static inline float *new_floats(int n) {
    float *x = new_bytes((size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) x[i] = random_float();
    return x;
}
#endif
