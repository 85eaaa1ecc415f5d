/* Runs a program: one call for a whole token or prefill chunk, so that Python's lock is taken once.
 * Weights are the caller's memory; buffers, KV cache and scratch are ours and grow on first use. */
#include "exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */
void *e0_scratch_get(e0_exec *x, int which, size_t bytes) {
    e0_scratch *s = x->scratch + which;
    if (bytes <= s->bytes) return s->data;
    e0_pages_free(s->data, s->bytes);
    s->bytes = (bytes + 4095) / 4096 * 4096;
    if (!(s->data = e0_pages_alloc(s->bytes))) s->bytes = 0, x->out_of_memory = true;
    return s->data;
}

float *e0_row(const e0_exec *x, int buffer, int token) {
    const e0_buffer *b = x->buffer + buffer;
    return b->data + (size_t)(b->rows == 1 ? 0 : x->first + token) * (size_t)b->stride;
}

static void *grown(void *old, int n, size_t size) {
    return n % 64 ? old : realloc(old, (size_t)(n + 64) * size); /* room for 64 more at every 64th */
}

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

/* ---- row ops ---- */
typedef struct {
    e0_exec *x;
    const e0_op *op;
    const float *cos, *sin;
} row_args;

static void row_item(void *arg, int t, int thread) {
    (void)thread;
    row_args *a = arg;
    e0_exec *x = a->x;
    const e0_op *op = a->op;
    float *out = e0_row(x, op->out, t);
    int width = x->buffer[op->out].width;
    switch (op->kind) {
    case E0_RMS_NORM:
        for (int at = 0; at < width; at += op->count)
            x->k->rms_norm(e0_row(x, op->a, t) + at, x->vector[op->vector], op->count, op->extra, out + at);
        break;
    case E0_ADD: x->k->add(e0_row(x, op->a, t), e0_row(x, op->b, t), width, out); break;
    case E0_GATED: x->k->gate(e0_row(x, op->a, t), e0_row(x, op->b, t), width, op->flags, out); break;
    case E0_ROTARY:
        for (int h = 0; h < op->heads; h++)
            x->k->rotate(out + h * op->head_dim, a->cos + t * op->count, a->sin + t * op->count, op->count);
        break;
    }
}

/* cos and sin of every position of the chunk, shared by all layers that use the same frequencies. */
static const float *rotary_table(e0_exec *x, const e0_op *op) {
    size_t n = (size_t)x->tokens * (size_t)op->count;
    float *table = e0_scratch_get(x, SCRATCH_ROTARY, 2 * n * sizeof(float));
    const float *frequency = x->vector[op->vector];
    if (!table || x->rotary_of == frequency) return table;
    x->rotary_of = frequency;
    for (int t = 0; t < x->tokens; t++)
        for (int i = 0; i < op->count; i++) {
            float angle = (float)(x->position + t) * frequency[i]; /* float32, as the reference does */
            table[t * op->count + i] = (float)cos((double)angle) * op->scale;
            table[n + (size_t)(t * op->count + i)] = (float)sin((double)angle) * op->scale;
        }
    return table;
}

static void run_rows(e0_exec *x, const e0_op *op) {
    row_args a = {x, op, NULL, NULL};
    if (op->kind == E0_ROTARY) {
        if (!(a.cos = rotary_table(x, op))) return;
        a.sin = a.cos + (size_t)x->tokens * (size_t)op->count;
    }
    if (x->tokens < 4)
        for (int t = 0; t < x->tokens; t++) row_item(&a, t, 0);
    else
        e0_pool_run(x->pool, x->tokens, row_item, &a);
}

/* ---- the loop ---- */
static int linears_together(const e0_op *ops, int n) {
    int i = 1;
    while (i < n && i < 8 && ops[i].kind == E0_LINEAR && ops[i].a == ops->a && ops[i - 1].out != ops->a) i++;
    return i;
}

/* What chooses the experts of the layer after `op`: its router, or its experts where all are used. */
static const e0_op *next_choice(const e0_op *op, int left) {
    for (int i = 1; i < left; i++)
        if (op[i].kind == E0_ROUTER || op[i].kind == E0_EXPERTS) return op + i;
    return NULL;
}

/* Runs the op (or a few linears at once); the number of ops done, or -1 on a read error. */
static int step(e0_exec *x, const e0_op *op, int left) {
    double start = e0_now();
    int done = 1;
    switch (op->kind) {
    case E0_LINEAR: e0_run_linears(x, op, done = linears_together(op, left)); break;
    case E0_ATTENTION: e0_run_attention(x, op); break;
    case E0_ROUTER: e0_run_router(x, op); break;
    case E0_EXPERTS: done = e0_run_experts(x, op, next_choice(op, left)) ? -1 : 1; break;
    default: run_rows(x, op);
    }
    double seconds = e0_now() - start;
    if (op->kind == E0_EXPERTS) x->times.expert_s += seconds;
    else if (op->layer >= 0 && (op->kind == E0_LINEAR || op->kind == E0_ATTENTION || op->kind == E0_ROTARY))
        x->times.attention_s += seconds;
    return done;
}

int e0_exec_run(e0_exec *x, const e0_op *ops, int n_ops, int first, int tokens, int position,
                const volatile int32_t *stop) {
    double start = e0_now();
    x->first = first, x->tokens = tokens, x->position = position, x->rotary_of = NULL;
    x->out_of_memory = false;
    if (x->store) e0_store_begin_tick(x->store, tokens);
    int status = 0;
    for (int i = 0; i < n_ops && !status;) {
        int done = stop && *stop ? 0 : step(x, ops + i, n_ops - i);
        status = x->out_of_memory ? 3 : done < 0 ? 2 : done == 0 ? 1 : 0;
        i += done;
    }
    x->times.total_s += e0_now() - start;
    return status;
}

void e0_exec_take_times(e0_exec *x, e0_times *out) {
    *out = x->times;
    x->times = (e0_times){0};
}

int e0_exec_matmul(e0_exec *x, const e0_matrix *m, const float *in, int tokens, float *y) {
    int rows_padded = (m->rows + E0_STRIP - 1) / E0_STRIP * E0_STRIP;
    int base = x->buffers, matrix = e0_exec_add_matrix(x, m);
    x->buffer = grown(x->buffer, x->buffers, sizeof *x->buffer);
    x->buffer[x->buffers++] = (e0_buffer){(float *)(uintptr_t)in, m->cols, m->cols, tokens};
    x->buffer = grown(x->buffer, x->buffers, sizeof *x->buffer);
    x->buffer[x->buffers++] = (e0_buffer){y, m->rows, rows_padded, tokens};
    e0_op op = {.kind = E0_LINEAR, .out = base + 1, .a = base, .weight = matrix, .vector = -1, .layer = -1};
    int status = e0_exec_run(x, &op, 1, 0, tokens, 0, NULL);
    x->buffers -= 2, x->matrices--;
    return status;
}

/* ---- building ---- */
e0_exec *e0_exec_new(int threads, const char *isa) {
    const e0_kernels *k = e0_pick_kernels(isa);
    e0_exec *x = k ? calloc(1, sizeof *x) : NULL;
    if (!x) return NULL;
    x->k = k;
    x->prediction = -1;
    x->pool = e0_pool_new(threads);
    return x;
}

static size_t cache_bytes(const e0_exec *x) {
    return (size_t)x->kv_heads * (size_t)x->head_dim * (size_t)x->positions * (size_t)x->kv_value;
}
static size_t scale_bytes(const e0_exec *x) { return 2 * (size_t)x->kv_heads * (size_t)x->positions * sizeof(float); }

void e0_exec_free(e0_exec *x) {
    if (!x) return;
    e0_pool_free(x->pool);
    for (int i = 0; i < x->buffers; i++)
        e0_pages_free(x->buffer[i].data, (size_t)x->buffer[i].stride * (size_t)x->buffer[i].rows * sizeof(float));
    for (int i = 0; i < x->layers; i++) {
        e0_pages_free(x->k_cache[i], cache_bytes(x));
        e0_pages_free(x->v_cache[i], cache_bytes(x));
        if (x->kv_scale) e0_pages_free(x->kv_scale[i], scale_bytes(x));
    }
    for (int i = 0; i < SCRATCH_COUNT; i++) e0_pages_free(x->scratch[i].data, x->scratch[i].bytes);
    void *owned[] = {x->matrix, x->vector, x->vector_size, x->buffer, x->record, x->k_cache, x->v_cache, x->kv_scale, x};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

const char *e0_exec_isa(const e0_exec *x) { return x->k->name; }
int e0_exec_threads(const e0_exec *x) { return e0_pool_threads(x->pool); }
void e0_exec_set_store(e0_exec *x, e0_store *s) { x->store = s; }
void e0_exec_set_prediction(e0_exec *x, int reads) { x->prediction = reads; }

int e0_exec_add_matrix(e0_exec *x, const e0_matrix *m) {
    x->matrix = grown(x->matrix, x->matrices, sizeof *x->matrix);
    x->matrix[x->matrices] = *m;
    return x->matrices++;
}

int e0_exec_add_vector(e0_exec *x, const float *data, int n) {
    x->vector = grown(x->vector, x->vectors, sizeof *x->vector);
    x->vector_size = grown(x->vector_size, x->vectors, sizeof *x->vector_size);
    x->vector[x->vectors] = data;
    x->vector_size[x->vectors] = n;
    return x->vectors++;
}

int e0_exec_add_buffer(e0_exec *x, int width, int rows) {
    int stride = (width + E0_STRIP - 1) / E0_STRIP * E0_STRIP;
    float *data = e0_pages_alloc((size_t)stride * (size_t)rows * sizeof(float));
    if (!data) return -1;
    x->buffer = grown(x->buffer, x->buffers, sizeof *x->buffer);
    x->buffer[x->buffers] = (e0_buffer){data, width, stride, rows};
    return x->buffers++;
}

float *e0_exec_buffer(e0_exec *x, int index, int row) {
    const e0_buffer *b = x->buffer + index;
    return b->data + (size_t)row * (size_t)b->stride;
}

int e0_exec_set_cache(e0_exec *x, int layers, int kv_heads, int head_dim, int positions, int int8) {
    x->positions = (positions + E0_KEY_TILE - 1) / E0_KEY_TILE * E0_KEY_TILE;
    x->k_cache = calloc((size_t)layers, sizeof *x->k_cache);
    x->v_cache = calloc((size_t)layers, sizeof *x->v_cache);
    if (int8) x->kv_scale = calloc((size_t)layers, sizeof *x->kv_scale);
    x->layers = layers, x->kv_heads = kv_heads, x->head_dim = head_dim, x->kv_value = int8 ? 1 : 2;
    for (int i = 0; i < layers; i++) {
        if (!(x->k_cache[i] = e0_pages_alloc(cache_bytes(x))) || !(x->v_cache[i] = e0_pages_alloc(cache_bytes(x)))) return -1;
        if (int8 && !(x->kv_scale[i] = e0_pages_alloc(scale_bytes(x)))) return -1;
    }
    return 0;
}

void e0_exec_set_record(e0_exec *x, int layer, const e0_matrix *gate, const e0_matrix *up, const e0_matrix *down) {
    if (layer >= x->record_layers) {
        x->record = realloc(x->record, (size_t)(layer + 1) * sizeof *x->record);
        x->record_layers = layer + 1;
    }
    x->record[layer][0] = *gate, x->record[layer][1] = *up, x->record[layer][2] = *down;
}
