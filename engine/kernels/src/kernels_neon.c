/* ARM with dot products. */
#include "vectors.h"

#if defined(__aarch64__)
#define E0_NAME "neon"
#include "neon.h"

#include "kernels.inc"

const e0_kernels *e0_kernels_neon(void) { return e0_cpu_has(E0_CPU_DOT) ? &table : NULL; }
#else
const e0_kernels *e0_kernels_neon(void) { return NULL; }
#endif
