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
enum { MOST_TOGETHER = 8, SHORTEST_BYTES = 16384 };

/* Linears that read the same buffer, and how their strips are shared out: units of op i are
 * [start[i], start[i + 1]), each of `step[i]` strips. */
typedef struct {
    const e0_op *op;
    int n, step[MOST_TOGETHER], start[MOST_TOGETHER + 1];
} linear_group;

/* Strips of a unit, the shortest item: a few kilobytes of weights, and what the kernels take side by side. */
static int unit_strips(const e0_exec *x, const e0_matrix *m) {
    int strips = (int)(SHORTEST_BYTES / m->strip_bytes);
    if (x->tokens == 1) return strips < 4 ? 4 : strips / 4 * 4;
    return strips < 1 ? 1 : strips;
}

static linear_group group_linears(const e0_exec *x, const e0_op *op, const e0_op *end) {
    linear_group g = {.op = op};
    do {
        const e0_matrix *m = x->matrix + op[g.n].weight;
        g.step[g.n] = unit_strips(x, m);
        g.start[g.n + 1] = g.start[g.n] + (e0_strips(m) + g.step[g.n] - 1) / g.step[g.n];
        g.n++;
    } while (op + g.n < end && g.n < MOST_TOGETHER && op[g.n].kind == E0_LINEAR && op[g.n].a == op->a && op[g.n - 1].out != op->a);
    return g;
}

static int op_of(const linear_group *g, int unit) {
    int i = 0;
    while (unit >= g->start[i + 1]) i++;
    return i;
}

static const uint8_t *unit_data(const e0_exec *x, const linear_group *g, int unit) {
    int i = op_of(g, unit);
    const e0_matrix *m = x->matrix + g->op[i].weight;
    return m->data + (unit - g->start[i]) * g->step[i] * m->strip_bytes;
}

typedef struct {
    e0_exec *x;
    linear_group group;
    int panels;
    int32_t *cut; /* units of every item */
    e0_panel *panel;
    const e0_rows *rows;
    float **y; /* [op][token] */
    int32_t *order;
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
    e0_panels(a->x, a->rows, a->data, a->stride, a->order + begin, n, a->panel + p, at);
}

static void linear_item(void *arg, int item, int thread) {
    (void)thread;
    linear_args *a = arg;
    const linear_group *g = &a->group;
    for (int u = a->cut[item], last = a->cut[item + 1]; u < last;) {
        int i = op_of(g, u), until = last < g->start[i + 1] ? last : g->start[i + 1];
        const e0_matrix *m = a->x->matrix + g->op[i].weight;
        int strips = e0_strips(m), begin = (u - g->start[i]) * g->step[i], end = (until - g->start[i]) * g->step[i];
        a->x->k->matmul(m, m->data, begin, end < strips ? end : strips, until < last ? unit_data(a->x, g, until) : NULL,
                        a->panel, a->panels, a->y + (size_t)i * (size_t)a->x->tokens);
        u = until;
    }
}

static void add_bias(e0_exec *x, const e0_op *op) {
    for (int t = 0; t < x->tokens; t++) {
        float *y = e0_row(x, op->out, t);
        x->k->add(y, x->vector[op->vector], x->vector_size[op->vector], y);
    }
}

/* Quantised once, all their strips drawn from one pool job. */
int e0_run_linears(e0_exec *x, const e0_op *op, const e0_op *end) {
    linear_args a = {.x = x, .group = group_linears(x, op, end)};
    const e0_buffer *in = x->buffer + op->a;
    int n = a.group.n, units = a.group.start[n], cols = x->matrix[op->weight].cols;
    bool any = false;
    for (int i = 0; i < n; i++) any |= e0_quantised(x->matrix + op[i].weight);
    a.data = e0_row(x, op->a, 0), a.stride = in->stride, a.panels = e0_panel_count(x->tokens);
    e0_rows rows = {0};
    if (any) rows = e0_quantize(x, a.data, a.stride, x->tokens, cols), a.rows = &rows;
    a.panel = e0_scratch_get(x, SCRATCH_PANELS, (size_t)a.panels * sizeof *a.panel);
    a.gathered = e0_scratch_get(x, SCRATCH_GATHERED, e0_gathered_bytes(x->tokens, cols));
    a.cut = e0_scratch_get(x, SCRATCH_CUTS, (size_t)(units + 1) * sizeof *a.cut);
    size_t pointers = (size_t)x->tokens * (size_t)n;
    a.y = e0_scratch_get(x, SCRATCH_POINTERS, pointers * sizeof *a.y + (size_t)x->tokens * sizeof *a.order);
    if (x->out_of_memory) return n;
    a.order = (int32_t *)(a.y + pointers);
    for (int t = 0; t < x->tokens; t++) a.order[t] = t;
    e0_pool_run(x->pool, a.panels, gather_item, &a);
    for (int i = 0; i < n; i++)
        for (int t = 0; t < x->tokens; t++) a.y[(size_t)i * (size_t)x->tokens + (size_t)t] = e0_row(x, op[i].out, t);
    e0_pool_run(x->pool, e0_pool_cut(x->pool, units, a.cut), linear_item, &a);
    for (int i = 0; i < n; i++)
        if (op[i].vector >= 0) add_bias(x, op + i);
    return n;
}
