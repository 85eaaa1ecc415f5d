/* AVX-VNNI (256-bit): laptops since Alder Lake, which have no AVX-512. */
#include "vectors.h"

#if defined(__x86_64__)
#define E0_NAME "avxvnni"
#define SUB 4
#define WEIGHT_BIAS 128
#include "avx2.h"

static inline i32x16 dot4(i32x16 sum, w64 w, const int8_t *q4) {
    __m256i q = splat4(q4);
    return joined(_mm256_dpbusd_avx_epi32(low_half(sum), w.a, q), _mm256_dpbusd_avx_epi32(high_half(sum), w.b, q));
}

#include "kernels.inc"

const e0_kernels *e0_kernels_avxvnni(void) { return e0_cpu_has(E0_CPU_AVXVNNI) ? &table : NULL; }
#else
const e0_kernels *e0_kernels_avxvnni(void) { return NULL; }
#endif
