/* AVX-512 with VNNI: one 512-bit table lookup and one vpdpbusd per 16 rows × 4 columns. */
#include "vectors.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define E0_NAME "avx512"
#define SUB 12
#define WEIGHT_BIAS 128

typedef __m512i codes64, lut64, w64;

static inline lut64 make_lut(const int8_t table[16]) {
    __m128i biased = _mm_xor_si128(_mm_loadu_si128((const __m128i *)table), _mm_set1_epi8((char)0x80));
    return _mm512_broadcast_i32x4(biased);
}
static inline codes64 load_codes(const uint8_t *p) { return _mm512_loadu_si512(p); }
static inline w64 lookup(codes64 c, lut64 lut, int high) {
    __m512i nibble = high ? _mm512_srli_epi16(c, 4) : c;
    return _mm512_shuffle_epi8(lut, _mm512_and_si512(nibble, _mm512_set1_epi8(15)));
}
static inline w64 load_int8(const uint8_t *p) {
    return _mm512_xor_si512(_mm512_loadu_si512(p), _mm512_set1_epi8((char)0x80));
}
static inline w64 load_decoded(const uint8_t *p) { return _mm512_load_si512(p); }
static inline void store_decoded(uint8_t *p, w64 w) { _mm512_store_si512(p, w); }
static inline i32x16 dot4(i32x16 sum, w64 w, const int8_t *q4) {
    int32_t q;
    __builtin_memcpy(&q, q4, 4);
    return (i32x16)_mm512_dpbusd_epi32((__m512i)sum, w, _mm512_set1_epi32(q));
}

#include "kernels.inc"

const e0_kernels *e0_kernels_avx512(void) { return e0_cpu_has(E0_CPU_AVX512) ? &table : NULL; }
#else
const e0_kernels *e0_kernels_avx512(void) { return NULL; }
#endif
