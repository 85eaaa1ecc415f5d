/* Stands in for the instruction sets that a build leaves out. */
#include "e0.h"

const e0_kernels *e0_kernels_avx2(void) { return NULL; }
const e0_kernels *e0_kernels_avxvnni(void) { return NULL; }
const e0_kernels *e0_kernels_avx512(void) { return NULL; }
const e0_kernels *e0_kernels_neon(void) { return NULL; }
const e0_kernels *e0_kernels_neon_i8mm(void) { return NULL; }
