/* Every kernel of every instruction set this processor has, bit for bit against the portable one.
 * Arguments: rounds, seed. Memory ends where the kernels may no longer read, for checkers to see. */
#include "e0.h"
#include "random.h"

static const e0_kernels *plain, *fast;

static void same(const char *what, const void *a, const void *b, size_t bytes) {
    if (memcmp(a, b, bytes) == 0) return;
    size_t at = 0;
    while (((const char *)a)[at] == ((const char *)b)[at]) at++;
    printf("%s: %s differs from %s at byte %zu of %zu\n", what, fast->name, plain->name, at, bytes);
    exit(1);
}

static void *copied(const void *from, size_t bytes) { return memcpy(new_bytes(bytes), from, bytes); }

/* ---- matrices ---- */
enum { MOST_TOKENS = 640 };

static size_t strip_bytes(int format, int cols) {
    size_t blocks = (size_t)(cols + 31) / 32, block = format == E0_BF16 ? 1024 : format == E0_INT8 ? 544 : 288;
    size_t bytes = format == E0_F32 ? (size_t)cols * 64 : blocks * block;
    return (bytes + 63) / 64 * 64;
}

/* fp16 and bf16 numbers of moderate size. */
static uint16_t random_half(void) { return (uint16_t)((random_bits() & 0x83ff) | (random_bits() % 11 + 8) << 10); }
static uint16_t random_bfloat(void) { return (uint16_t)((random_bits() & 0x807f) | (random_bits() % 13 + 118) << 7); }

static uint8_t *random_weights(const e0_matrix *m) {
    int strips = (m->rows + 15) / 16, blocks = (m->cols + 31) / 32;
    size_t codes = (size_t)blocks * (m->format == E0_INT8 ? 512 : 256);
    uint8_t *data = new_bytes((size_t)strips * (size_t)m->strip_bytes);
    for (int s = 0; s < strips; s++) {
        uint8_t *strip = data + (size_t)s * (size_t)m->strip_bytes;
        if (m->format == E0_F32)
            for (int i = 0; i < m->cols * 16; i++) ((float *)strip)[i] = random_float();
        else if (m->format == E0_BF16)
            for (int i = 0; i < blocks * 512; i++) ((uint16_t *)strip)[i] = random_bfloat();
        else {
            for (size_t i = 0; i < codes; i++) strip[i] = (uint8_t)random_bits();
            uint16_t *scales = (uint16_t *)(strip + codes);
            for (int i = 0; i < blocks * 16; i++)
                scales[i] = m->format == E0_TABLE4_BF16_SCALE ? random_bfloat() : random_half();
        }
    }
    return data;
}

/* Quantised by k itself: the bias depends on the set, q and scale must not. */
static void fill_panel(const e0_kernels *k, e0_panel *p, float *const *x, int n, int cols) {
    int blocks = (cols + 31) / 32;
    int8_t *q = new_bytes((size_t)(n * blocks * 32)), *row = new_bytes((size_t)(blocks * 32));
    float *scale = new_bytes((size_t)(n * blocks) * sizeof *scale), *s = new_bytes((size_t)blocks * sizeof *s);
    int32_t *bias = new_bytes((size_t)(n * blocks) * sizeof *bias), *b = new_bytes((size_t)blocks * sizeof *b);
    for (int t = 0; t < n; t++) {
        k->quantize_row(x[t], cols, row, s, b);
        for (int i = 0; i < blocks; i++) {
            memcpy(q + (i * n + t) * 32, row + i * 32, 32);
            scale[i * n + t] = s[i], bias[i * n + t] = b[i];
        }
        p->x[t] = x[t];
    }
    p->q = q, p->scale = scale, p->bias = bias, p->tokens = n;
    free(row), free(s), free(b);
}

static void free_panel(e0_panel *p) {
    free((void *)(uintptr_t)p->q), free((void *)(uintptr_t)p->scale), free((void *)(uintptr_t)p->bias);
}

static float *product(const e0_kernels *k, const e0_matrix *m, const uint8_t *data, float **x, int tokens) {
    int padded = (m->rows + 15) / 16 * 16, panels = 0;
    static e0_panel panel[MOST_TOKENS];
    static float *y[MOST_TOKENS];
    float *out = new_bytes((size_t)(tokens * padded) * sizeof *out);
    for (int t = 0; t < tokens; t++) y[t] = out + t * padded;
    for (int t = 0; t < tokens; t += panel[panels++].tokens) {
        int most = tokens - t < E0_PANEL ? tokens - t : E0_PANEL;
        fill_panel(k, panel + panels, x + t, tokens > 100 ? most : random_int(1, most), m->cols);
    }
    k->matmul(m, data, 0, padded / 16, NULL, panel, panels, y);
    for (int p = 0; p < panels; p++) free_panel(panel + p);
    return out;
}

static void test_matmul(int format, int tokens) {
    e0_matrix m = {.format = format, .rows = random_int(1, 50), .cols = random_int(1, 80)};
    if (random_int(0, 3) == 0) m.cols += 512 * random_int(1, 2); /* more than a chunk of blocks */
    m.strip_bytes = (int64_t)strip_bytes(m.format, m.cols);
    for (int i = 0; i < 16; i++) m.table[i] = (int8_t)random_int(-127, 127);
    float *x[MOST_TOKENS];
    for (int t = 0; t < tokens; t++) x[t] = new_floats(m.cols);
    uint8_t *data = random_weights(&m);
    uint64_t kept = random_state;
    float *a = product(plain, &m, data, x, tokens);
    random_state = random_int(0, 1) ? kept : random_state; /* the same panels, or others */
    float *b = product(fast, &m, data, x, tokens);
    same("matmul", a, b, (size_t)(tokens * ((m.rows + 15) / 16 * 16)) * sizeof *a);
    for (int t = 0; t < tokens; t++) free(x[t]);
    free(data), free(a), free(b);
}

static void test_quantize(void) {
    int cols = random_int(1, 200), blocks = (cols + 31) / 32;
    float *x = new_floats(cols), tiny = random_int(0, 9) ? 1.0f : 1e-43f;
    for (int i = 0; i < cols; i++) x[i] *= tiny;
    int8_t *q[2];
    float *scale[2];
    for (int i = 0; i < 2; i++) {
        q[i] = new_bytes((size_t)(blocks * 32)), scale[i] = new_bytes((size_t)blocks * sizeof(float));
        int32_t *bias = new_bytes((size_t)blocks * sizeof *bias);
        (i ? fast : plain)->quantize_row(x, cols, q[i], scale[i], bias);
        free(bias);
    }
    same("quantize_row q", q[0], q[1], (size_t)(blocks * 32));
    same("quantize_row scale", scale[0], scale[1], (size_t)blocks * sizeof(float));
    for (int i = 0; i < 2; i++) free(q[i]), free(scale[i]);
    free(x);
}

/* ---- rows ---- */
typedef void (*row_fn)(const e0_kernels *, float *a, const float *b, const float *c, int n);

static void run_rms_norm(const e0_kernels *k, float *a, const float *b, const float *c, int n) {
    k->rms_norm(b, c, n, 1e-5f, a);
}
static void run_add(const e0_kernels *k, float *a, const float *b, const float *c, int n) { k->add(b, c, n, a); }
static void run_silu(const e0_kernels *k, float *a, const float *b, const float *c, int n) { k->gate(b, c, n, 0, a); }
static void run_tanh(const e0_kernels *k, float *a, const float *b, const float *c, int n) { k->gate(b, c, n, 1, a); }
static void run_gelu(const e0_kernels *k, float *a, const float *b, const float *c, int n) { k->gate(b, c, n, 2, a); }
static void run_rotate(const e0_kernels *k, float *a, const float *b, const float *c, int n) {
    if (n > 1) k->rotate(a, b, c, n / 2);
}
static void run_softmax(const e0_kernels *k, float *a, const float *b, const float *c, int n) {
    (void)b, (void)c;
    k->softmax(a, n);
}
static void run_combine(const e0_kernels *k, float *a, const float *b, const float *c, int n) {
    const float *rows[] = {b, c, b};
    float gates[] = {0.5f, c[0], b[0]};
    k->combine(rows, gates, n % 3 + 1, n, a);
}

static void test_row(const char *name, row_fn run) {
    int n = random_int(1, 150);
    float *a = new_floats(n), *b = new_floats(n), *c = new_floats(n);
    float *other = copied(a, (size_t)n * sizeof *a);
    run(plain, a, b, c, n);
    run(fast, other, b, c, n);
    same(name, a, other, (size_t)n * sizeof *a);
    free(a), free(b), free(c), free(other);
}

/* ---- attention ---- */
typedef struct { float max[8], sum[8], *out[8]; } attended;

static void test_attend(void) {
    int dim = 16 * random_int(1, 10), keys = random_int(1, 1100), rows = random_int(1, 8);
    int tiles = (keys + 15) / 16, begin = random_int(0, (keys - 1) / 512) * 512, first[8], last[8];
    int int8 = random_int(0, 1);
    size_t cached = (size_t)(tiles * 16 * dim) * (int8 ? 1 : 2), scales = (size_t)(tiles * 16) * sizeof(float);
    e0_kv cache[2];
    for (int i = 0; i < 2; i++) {
        cache[i] = (e0_kv){memset(new_bytes(cached), 0, cached), memset(new_bytes(cached), 0, cached), NULL, NULL};
        if (!int8) continue;
        cache[i].k_scale = memset(new_bytes(scales), 0, scales);
        cache[i].v_scale = memset(new_bytes(scales), 0, scales);
    }
    for (int key = 0; key < keys; key++) {
        float *k = new_floats(dim), *v = new_floats(dim);
        for (int i = 0; i < 2; i++)
            (i ? fast : plain)->store_kv(k, v, dim, cache + i, key);
        free(k), free(v);
    }
    same("store_kv k", cache[0].k, cache[1].k, cached);
    same("store_kv v", cache[0].v, cache[1].v, cached);
    if (int8) same("store_kv scale", cache[0].k_scale, cache[1].k_scale, scales);
    const float *q[8];
    for (int r = 0; r < rows; r++) {
        q[r] = new_floats(dim), last[r] = random_int(1, keys);
        first[r] = random_int(0, 1) ? 0 : random_int(0, last[r] - 1);
    }
    float cap = random_int(0, 2) ? 0 : 20;
    attended a[2];
    for (int i = 0; i < 2; i++) {
        for (int r = 0; r < rows; r++) a[i].out[r] = new_bytes((size_t)dim * sizeof(float));
        (i ? fast : plain)->attend(q, rows, dim, cache + i, begin, first, last, 0.25f, cap, a[i].max, a[i].sum,
                                   a[i].out);
    }
    same("attend max", a[0].max, a[1].max, (size_t)rows * sizeof(float));
    same("attend sum", a[0].sum, a[1].sum, (size_t)rows * sizeof(float));
    for (int r = 0; r < rows; r++) {
        same("attend out", a[0].out[r], a[1].out[r], (size_t)dim * sizeof(float));
        for (int i = 0; i < 2; i++) { /* the row with itself, as another split's result */
            const float *again = copied(a[i].out[r], (size_t)dim * sizeof(float));
            const e0_kernels *k = i ? fast : plain;
            k->merge(a[i].max + r, a[i].sum + r, a[i].out[r], a[i].max[0] + 1, a[i].sum[0], again, dim);
            k->merge(a[i].max + r, a[i].sum + r, a[i].out[r], 0.5f, 1, NULL, dim);
            free((void *)(uintptr_t)again);
        }
        same("merge", a[0].out[r], a[1].out[r], (size_t)dim * sizeof(float));
        free(a[0].out[r]), free(a[1].out[r]), free((void *)(uintptr_t)q[r]);
    }
    for (int i = 0; i < 2; i++) free(cache[i].k), free(cache[i].v), free(cache[i].k_scale), free(cache[i].v_scale);
}

static void test_all(int rounds) {
    static const struct { const char *name; row_fn run; } rows[] = {
        {"rms_norm", run_rms_norm}, {"add", run_add}, {"silu", run_silu}, {"gelu_tanh", run_tanh},
        {"gelu", run_gelu}, {"rotate", run_rotate}, {"softmax", run_softmax}, {"combine", run_combine}};
    for (int i = 0; i < rounds; i++) {
        test_quantize();
        test_matmul(random_int(0, 4), random_int(1, 40));
        test_attend();
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) test_row(rows[r].name, rows[r].run);
    }
    for (int format = E0_TABLE4; format <= E0_F32; format++)
        for (int tokens = 1; tokens <= E0_PANEL + 2; tokens++) test_matmul(format, tokens);
    test_matmul(random_int(0, 4), 48 * E0_PANEL + 14); /* more panels than one pass takes */
}

int main(int argc, char **argv) {
    static const char *const names[] = {"avx512", "avxvnni", "avx2", "neon_i8mm", "neon", "scalar"};
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    plain = e0_kernels_scalar();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(fast = e0_pick_kernels(names[i]))) continue;
        random_state = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
        test_all(rounds);
        printf("%s ok\n", fast->name);
    }
    return 0;
}
