/* ARM with int8 matrix products (Apple M2, Graviton3, Snapdragon X and later): smmla multiplies 2 rows × 8
 * columns by 8 columns × 2 tokens, twice the work of sdot. Few tokens take sdot as before. */
#include "vectors.h"

#if defined(__aarch64__)
#define E0_NAME "neon_i8mm"
#define OWN_BLOCK 1
#include "neon.h"

/* 128 bytes: eight operands of 2 rows × 8 columns. */
INLINE void store_pair(uint8_t *out, w64 lo, w64 hi) {
    for (int i = 0; i < 4; i++) {
        int32x4x2_t rows = vzipq_s32(vreinterpretq_s32_s8(lo.v[i]), vreinterpretq_s32_s8(hi.v[i]));
        vst1q_s8((int8_t *)out + i * 32, vreinterpretq_s8_s32(rows.val[0]));
        vst1q_s8((int8_t *)out + i * 32 + 16, vreinterpretq_s8_s32(rows.val[1]));
    }
}

/* pair[p][r]: rows 2r and 2r + 1 by tokens 2p and 2p + 1; an odd last token goes with itself. */
INLINE void dot_block(const int n, const uint8_t *w, const int8_t *q, const int32_t *bias, i32x16 *sum) {
    int32x4_t pair[SUB / 2][8];
    (void)bias; /* WEIGHT_BIAS is 0 */
    UNROLL for (int i = 0; i < (n + 1) / 2 * 8; i++) pair[i / 8][i % 8] = vdupq_n_s32(0);
    UNROLL for (int v = 0; v < 4; v++) {
        int8x16_t a[SUB / 2];
        UNROLL for (int t = 0; t < n; t += 2)
            a[t / 2] = vcombine_s8(vld1_s8(q + t * 32 + v * 8), vld1_s8(q + (t + 1 < n ? t + 1 : t) * 32 + v * 8));
        UNROLL for (int r = 0; r < 8; r++) {
            int8x16_t x = vld1q_s8((const int8_t *)w + v * 128 + r * 16);
            UNROLL for (int t = 0; t < n; t += 2) pair[t / 2][r] = vmmlaq_s32(pair[t / 2][r], x, a[t / 2]);
        }
    }
    UNROLL for (int t = 0; t < n; t++) {
        int32x4_t part[4], *of = pair[t / 2];
        UNROLL for (int i = 0; i < 4; i++)
            part[i] = t % 2 ? vuzp2q_s32(of[2 * i], of[2 * i + 1]) : vuzp1q_s32(of[2 * i], of[2 * i + 1]);
        __builtin_memcpy(sum + t, part, sizeof part);
    }
}

#include "kernels.inc"

const e0_kernels *e0_kernels_neon_i8mm(void) { return e0_cpu_has(E0_CPU_I8MM) ? &table : NULL; }
#else
const e0_kernels *e0_kernels_neon_i8mm(void) { return NULL; }
#endif
