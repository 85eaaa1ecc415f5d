/* Portable C for processors without any of the others; also the plainest statement of the layout. */
#include "vectors.h"

#define E0_NAME "scalar"
#define SUB 2
#define WEIGHT_BIAS 0

typedef struct { uint8_t v[64]; } codes64;
typedef struct { int8_t v[64]; } w64;
typedef struct { int8_t v[16]; } lut64;

static inline lut64 make_lut(const int8_t table[16]) {
    lut64 t;
    __builtin_memcpy(t.v, table, 16);
    return t;
}
static inline codes64 load_codes(const uint8_t *p) {
    codes64 c;
    __builtin_memcpy(c.v, p, 64);
    return c;
}
static inline w64 lookup(codes64 c, lut64 lut, int high) {
    w64 w;
    for (int i = 0; i < 64; i++) w.v[i] = lut.v[high ? c.v[i] >> 4 : c.v[i] & 15];
    return w;
}
static inline w64 load_int8(const uint8_t *p) {
    w64 w;
    __builtin_memcpy(w.v, p, 64);
    return w;
}
static inline w64 load_decoded(const uint8_t *p) { return load_int8(p); }
static inline void store_decoded(uint8_t *p, w64 w) { __builtin_memcpy(p, w.v, 64); }
static inline i32x16 dot4(i32x16 sum, w64 w, const int8_t *q4) {
    for (int r = 0; r < 16; r++)
        for (int c = 0; c < 4; c++) sum[r] += w.v[r * 4 + c] * q4[c];
    return sum;
}

#include "kernels.inc"

const e0_kernels *e0_kernels_scalar(void) { return &table; }
