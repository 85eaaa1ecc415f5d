/* Matrices times a chunk's activations: quantised once, gathered in panels, strips drawn by all threads. */
#include "exec.h"

#include <string.h>

/* ---- activations ---- */
typedef struct {
    e0_exec *x;
    const float *data;
    int stride;
    e0_rows rows;
} quantize_args;

static void quantize_item(void *arg, int row, int thread) {
    (void)thread;
    quantize_args *a = arg;
    const e0_rows *r = &a->rows;
    size_t block = (size_t)row * (size_t)r->blocks;
    a->x->k->quantize_row(a->data + (size_t)row * (size_t)a->stride, r->cols, r->q + block * E0_BLOCK, r->scale + block,
                          r->bias + block);
}

e0_rows e0_quantize(e0_exec *x, const float *data, int stride, int tokens, int cols) {
    int blocks = (cols + E0_BLOCK - 1) / E0_BLOCK;
    size_t n = (size_t)tokens * (size_t)blocks;
    uint8_t *at = e0_scratch_get(x, SCRATCH_ROWS, n * (E0_BLOCK + 8));
    quantize_args a = {x, data, stride, {(int8_t *)at, (float *)(at + n * E0_BLOCK), NULL, cols, blocks}};
    if (!at) return a.rows;
    a.rows.bias = (int32_t *)(a.rows.scale + n);
    e0_pool_run(x->pool, tokens, quantize_item, &a);
    return a.rows;
}

int e0_panel_count(int tokens) { return (tokens + E0_PANEL - 1) / E0_PANEL; }

size_t e0_gathered_bytes(int tokens, int cols) {
    return (size_t)tokens * (size_t)((cols + E0_BLOCK - 1) / E0_BLOCK) * (E0_BLOCK + 8) + 64;
}

/* Panels of nearly equal size: 13 tokens become 7 + 6, not 12 + 1. */
static int panel_start(int tokens, int panels, int i) { return (int)((int64_t)tokens * i / panels); }

static void gather_panel(const e0_rows *r, const int32_t *row, int n, e0_panel *out, uint8_t *at) {
    int8_t *q = (int8_t *)at;
    float *scale = (float *)(at + (size_t)n * (size_t)r->blocks * E0_BLOCK);
    int32_t *bias = (int32_t *)(scale + n * r->blocks);
    for (int t = 0; t < n; t++) {
        size_t from = (size_t)row[t] * (size_t)r->blocks;
        for (int b = 0; b < r->blocks; b++) {
            memcpy(q + (b * n + t) * E0_BLOCK, r->q + (from + (size_t)b) * E0_BLOCK, E0_BLOCK);
            scale[b * n + t] = r->scale[from + (size_t)b];
            bias[b * n + t] = r->bias[from + (size_t)b];
        }
    }
    out->q = q, out->scale = scale, out->bias = bias;
}

void e0_panels(e0_exec *x, const e0_rows *r, const float *data, int stride, const int32_t *row, int tokens,
               e0_panel *out, uint8_t *gathered) {
    (void)x;
    int panels = e0_panel_count(tokens);
    for (int p = 0; p < panels; p++) {
        int begin = panel_start(tokens, panels, p), n = panel_start(tokens, panels, p + 1) - begin;
        out[p].tokens = n;
        for (int t = 0; t < n; t++) out[p].x[t] = data + (size_t)row[begin + t] * (size_t)stride;
        if (!r) continue;
        if (n == 1) {
            size_t at = (size_t)row[begin] * (size_t)r->blocks;
            out[p].q = r->q + at * E0_BLOCK, out[p].scale = r->scale + at, out[p].bias = r->bias + at;
        } else {
            gather_panel(r, row + begin, n, out + p, gathered);
        }
        gathered += (size_t)n * (size_t)r->blocks * (E0_BLOCK + 8);
    }
}

/* ---- linear ---- */
typedef struct {
    e0_exec *x;
    const e0_op *ops;
    int n_ops, panels, step[8], start[9]; /* items of op i: [start[i], start[i + 1]) of `step` strips */
    const e0_panel *panel;
    const e0_rows *rows;
    float **y; /* [op][token] */
    int32_t *order;
    e0_panel *out;
    uint8_t *gathered;
    const float *data;
    int stride;
} linear_args;

static void gather_item(void *arg, int p, int thread) {
    (void)thread;
    linear_args *a = arg;
    int tokens = a->x->tokens, begin = panel_start(tokens, a->panels, p);
    int n = panel_start(tokens, a->panels, p + 1) - begin;
    uint8_t *at = a->gathered + (size_t)begin * (size_t)(a->rows ? a->rows->blocks * (E0_BLOCK + 8) : 0);
    e0_panels(a->x, a->rows, a->data, a->stride, a->order + begin, n, a->out + p, at);
}

static void linear_item(void *arg, int item, int thread) {
    (void)thread;
    linear_args *a = arg;
    int i = 0;
    while (item >= a->start[i + 1]) i++;
    const e0_matrix *m = a->x->matrix + a->ops[i].weight;
    int strips = (m->rows + E0_STRIP - 1) / E0_STRIP, begin = (item - a->start[i]) * a->step[i];
    int end = begin + a->step[i] < strips ? begin + a->step[i] : strips;
    a->x->k->matmul(m, m->data, begin, end, a->panel, a->panels, a->y + (size_t)i * (size_t)a->x->tokens);
}

static bool quantised(const e0_matrix *m) { return m->format < E0_BF16; }

/* Strips per item: enough items to balance the threads, each at least a few kilobytes of weights. */
static int strips_per_item(const e0_exec *x, int strips, int64_t strip_bytes) {
    int fair = strips / (e0_pool_threads(x->pool) * 12), least = (int)(16384 / strip_bytes);
    int n = fair > least ? fair : least;
    if (x->tokens == 1) return n < 8 ? 4 : n / 4 * 4; /* the kernels take 4 side by side */
    return n < 1 ? 1 : n;
}

static void add_bias(e0_exec *x, const e0_op *op) {
    for (int t = 0; t < x->tokens; t++) {
        float *y = e0_row(x, op->out, t);
        x->k->add(y, x->vector[op->vector], x->vector_size[op->vector], y);
    }
}

/* Up to 8 linears that read the same buffer: quantised once, all their strips drawn from one pool job. */
void e0_run_linears(e0_exec *x, const e0_op *ops, int n) {
    const e0_buffer *in = x->buffer + ops->a;
    const float *data = e0_row(x, ops->a, 0);
    int cols = x->matrix[ops->weight].cols, panels = e0_panel_count(x->tokens);
    bool any = false;
    for (int i = 0; i < n; i++) any |= quantised(x->matrix + ops[i].weight);
    e0_rows rows = {0};
    if (any) rows = e0_quantize(x, data, in->stride, x->tokens, cols);
    e0_panel *panel = e0_scratch_get(x, SCRATCH_PANELS, (size_t)panels * sizeof *panel);
    uint8_t *gathered = e0_scratch_get(x, SCRATCH_GATHERED, e0_gathered_bytes(x->tokens, cols));
    size_t pointers = (size_t)x->tokens * (size_t)n;
    float **y = e0_scratch_get(x, SCRATCH_POINTERS, pointers * sizeof *y + (size_t)x->tokens * sizeof(int32_t));
    if (x->out_of_memory) return;
    int32_t *order = (int32_t *)(y + pointers);
    for (int t = 0; t < x->tokens; t++) order[t] = t;
    linear_args a = {.x = x, .ops = ops, .n_ops = n, .panels = panels, .panel = panel, .rows = any ? &rows : NULL,
                     .y = y, .order = order, .out = panel, .gathered = gathered, .data = data, .stride = in->stride};
    e0_pool_run(x->pool, panels, gather_item, &a);
    for (int i = 0; i < n; i++) {
        const e0_matrix *m = x->matrix + ops[i].weight;
        int strips = (m->rows + E0_STRIP - 1) / E0_STRIP;
        a.step[i] = strips_per_item(x, strips, m->strip_bytes);
        a.start[i + 1] = a.start[i] + (strips + a.step[i] - 1) / a.step[i];
        for (int t = 0; t < x->tokens; t++) y[(size_t)i * (size_t)x->tokens + (size_t)t] = e0_row(x, ops[i].out, t);
    }
    e0_pool_run(x->pool, a.start[n], linear_item, &a);
    for (int i = 0; i < n; i++)
        if (ops[i].vector >= 0) add_bias(x, ops + i);
}
