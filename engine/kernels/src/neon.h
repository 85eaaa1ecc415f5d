/* 64 weight bytes as four NEON quarters of 4 rows × 4 columns: what kernels_neon.c and kernels_neon_i8mm.c share. */
#include <arm_neon.h>
#define SUB 4
#define WEIGHT_BIAS 0

typedef struct { uint8x16_t v[4]; } codes64;
typedef struct { int8x16_t v[4]; } w64;
typedef int8x16_t lut64;

static inline lut64 make_lut(const int8_t table[16]) { return vld1q_s8(table); }
static inline codes64 load_codes(const uint8_t *p) {
    return (codes64){{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
}
static inline w64 lookup(codes64 c, lut64 lut, int high) {
    w64 w;
    for (int i = 0; i < 4; i++)
        w.v[i] = vqtbl1q_s8(lut, high ? vshrq_n_u8(c.v[i], 4) : vandq_u8(c.v[i], vdupq_n_u8(15)));
    return w;
}
static inline w64 load_int8(const uint8_t *p) {
    const int8_t *s = (const int8_t *)p;
    return (w64){{vld1q_s8(s), vld1q_s8(s + 16), vld1q_s8(s + 32), vld1q_s8(s + 48)}};
}
static inline w64 load_decoded(const uint8_t *p) { return load_int8(p); }
static inline void store_decoded(uint8_t *p, w64 w) {
    for (int i = 0; i < 4; i++) vst1q_s8((int8_t *)p + 16 * i, w.v[i]);
}
static inline i32x16 dot4(i32x16 sum, w64 w, const int8_t *q4) {
    int32_t q;
    __builtin_memcpy(&q, q4, 4);
    int8x16_t a = vreinterpretq_s8_s32(vdupq_n_s32(q));
    int32x4_t part[4];
    __builtin_memcpy(part, &sum, sizeof part);
    for (int i = 0; i < 4; i++) part[i] = vdotq_s32(part[i], w.v[i], a);
    __builtin_memcpy(&sum, part, sizeof part);
    return sum;
}
