/* The few clang builtins the kernels use, for gcc: it has the sanitizers that zig's clang lacks. */
#ifndef GCC_CLANG_H
#define GCC_CLANG_H
#define E0_LANES(v) ((int)(sizeof(v) / sizeof((v)[0])))
#define E0_EACH(out, expression) \
    __typeof__(out) e0_out; \
    for (int e0_i = 0; e0_i < E0_LANES(e0_out); e0_i++) e0_out[e0_i] = (expression); \
    e0_out;
#define E0_ONE(x, call) ({ __typeof__(x) e0_x = (x); E0_EACH(e0_x, call(e0_x[e0_i])) })
#define E0_TWO(x, y, call) ({ __typeof__(y) e0_x = (x), e0_y = (y); E0_EACH(e0_x, call(e0_x[e0_i], e0_y[e0_i])) })
#define __builtin_elementwise_abs(x) E0_ONE(x, __builtin_fabsf)
#define __builtin_elementwise_rint(x) E0_ONE(x, __builtin_rintf)
#define __builtin_elementwise_max(x, y) E0_TWO(x, y, __builtin_fmaxf)
#define __builtin_elementwise_min(x, y) E0_TWO(x, y, __builtin_fminf)
#define __builtin_elementwise_fma(x, y, z) \
    ({ __typeof__(z) e0_x = (x), e0_y = (y), e0_z = (z); E0_EACH(e0_x, __builtin_fmaf(e0_x[e0_i], e0_y[e0_i], e0_z[e0_i])) })
#define __builtin_reduce_add(x) \
    ({ __typeof__(x) e0_x = (x); __typeof__(e0_x[0]) e0_sum = 0; \
       for (int e0_i = 0; e0_i < E0_LANES(e0_x); e0_i++) e0_sum += e0_x[e0_i]; \
       e0_sum; })
#endif
