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

/* Runs the op (or a few linears at once); the number of ops done, or -1 on a read error. */
static int step(e0_exec *x, const e0_op *op, const e0_op *end) {
    double start = e0_now();
    int done = 1;
    switch (op->kind) {
    case E0_LINEAR: done = e0_run_linears(x, op, end); break;
    case E0_ATTENTION: e0_run_attention(x, op); break;
    case E0_ROUTER: e0_run_router(x, op); break;
    case E0_EXPERTS: done = e0_run_experts(x, op, end) ? -1 : 1; break;
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
        int done = stop && *stop ? 0 : step(x, ops + i, ops + n_ops);
        status = x->out_of_memory ? 3 : done < 0 ? 2 : done == 0 ? 1 : 0;
        i += done;
    }
    if (x->store && e0_store_was_cut(x->store)) status = 2;
    x->times.total_s += e0_now() - start;
    return status;
}

void e0_exec_take_times(e0_exec *x, e0_times *out) {
    *out = x->times;
    x->times = (e0_times){0};
}

int e0_exec_matmul(e0_exec *x, const e0_matrix *m, const float *in, int tokens, float *y) {
    int rows_padded = e0_strips(m) * E0_STRIP;
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
