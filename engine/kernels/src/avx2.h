/* What the two 256-bit sets share: 64 weight bytes are two halves of 8 rows × 4 columns. */
#include <immintrin.h>
typedef struct { __m256i a, b; } codes64, w64;
typedef __m256i lut64;

static inline codes64 load_codes(const uint8_t *p) {
    return (codes64){_mm256_loadu_si256((const __m256i *)p), _mm256_loadu_si256((const __m256i *)(p + 32))};
}
static inline lut64 make_lut(const int8_t table[16]) {
    __m128i t = _mm_xor_si128(_mm_loadu_si128((const __m128i *)table), _mm_set1_epi8((char)WEIGHT_BIAS));
    return _mm256_broadcastsi128_si256(t);
}
static inline __m256i nibbles(__m256i c, int high) {
    return _mm256_and_si256(high ? _mm256_srli_epi16(c, 4) : c, _mm256_set1_epi8(15));
}
static inline w64 lookup(codes64 c, lut64 lut, int high) {
    return (w64){_mm256_shuffle_epi8(lut, nibbles(c.a, high)), _mm256_shuffle_epi8(lut, nibbles(c.b, high))};
}
static inline w64 load_int8(const uint8_t *p) {
    codes64 c = load_codes(p);
    __m256i bias = _mm256_set1_epi8((char)WEIGHT_BIAS);
    return (w64){_mm256_xor_si256(c.a, bias), _mm256_xor_si256(c.b, bias)};
}
static inline w64 load_decoded(const uint8_t *p) {
    codes64 c = load_codes(p);
    return (w64){c.a, c.b};
}
static inline void store_decoded(uint8_t *p, w64 w) {
    _mm256_storeu_si256((__m256i *)p, w.a);
    _mm256_storeu_si256((__m256i *)(p + 32), w.b);
}
typedef int32_t i32x8 __attribute__((vector_size(32)));
static inline __m256i low_half(i32x16 v) { return (__m256i)__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7); }
static inline __m256i high_half(i32x16 v) {
    return (__m256i)__builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
}
static inline i32x16 joined(__m256i a, __m256i b) {
    return __builtin_shufflevector((i32x8)a, (i32x8)b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
static inline __m256i splat4(const int8_t *q4) {
    int32_t q;
    __builtin_memcpy(&q, q4, 4);
    return _mm256_set1_epi32(q);
}
