/* Plain AVX2. vpmaddubsw wants an unsigned side: |w| times the activation with w's sign; |w| ≤ 127 keeps
 * the 16-bit pair sums from saturating. */
#include "vectors.h"

#if defined(__x86_64__)
#define E0_NAME "avx2"
#define SUB 2
#define WEIGHT_BIAS 0
#include "avx2.h"

static inline __m256i dot_half(__m256i sum, __m256i w, __m256i q) {
    __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(q, w));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
static inline i32x16 dot4(i32x16 sum, w64 w, const int8_t *q4) {
    __m256i q = splat4(q4);
    return joined(dot_half(low_half(sum), w.a, q), dot_half(high_half(sum), w.b, q));
}

#include "kernels.inc"

const e0_kernels *e0_kernels_avx2(void) { return e0_cpu_has(E0_CPU_AVX2) ? &table : NULL; }
#else
const e0_kernels *e0_kernels_avx2(void) { return NULL; }
#endif
