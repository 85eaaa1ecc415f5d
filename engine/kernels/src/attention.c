/* Attention over the KV cache. Keys are taken in splits of 512 whose partial results are merged in order,
 * so decode and prefill of any chunking give the same bits. */
#include "exec.h"

#include <math.h>
#include <string.h>

enum { ROWS = 8 };

typedef struct {
    e0_exec *x;
    const e0_op *op;
    int group, tokens_per_item, blocks;
    float *partial; /* per thread: ROWS rows of head_dim */
} attention_args;

e0_kv e0_kv_head(const e0_exec *x, int layer, int head) {
    size_t at = (size_t)head * (size_t)x->positions, bytes = at * (size_t)x->head_dim * (size_t)x->kv_value;
    e0_kv kv = {x->k_cache[layer] + bytes, x->v_cache[layer] + bytes, NULL, NULL};
    if (x->kv_scale) {
        kv.k_scale = x->kv_scale[layer] + at;
        kv.v_scale = kv.k_scale + (size_t)x->kv_heads * (size_t)x->positions;
    }
    return kv;
}

static void append_item(void *arg, int t, int thread) {
    (void)thread;
    attention_args *a = arg;
    e0_exec *x = a->x;
    const float *k = e0_row(x, a->op->b, t), *v = e0_row(x, a->op->c, t);
    for (int h = 0; h < x->kv_heads; h++) {
        e0_kv head = e0_kv_head(x, a->op->layer, h);
        x->k->store_kv(k + h * x->head_dim, v + h * x->head_dim, x->head_dim, &head, x->position + t);
    }
}

/* `n` query rows that share a kv head: max, sum and out of every split folded together. */
static void attend_rows(attention_args *a, const float *const *q, float *const *out, const int *first, const int *last,
                        const int *head, int n, int kv_head, float *partial) {
    e0_exec *x = a->x;
    const e0_op *op = a->op;
    float max[ROWS], sum[ROWS], m[ROWS], s[ROWS], *part[ROWS];
    int begin = first[0], end = last[0];
    for (int r = 0; r < n; r++) {
        max[r] = -INFINITY, sum[r] = 0, part[r] = partial + r * x->head_dim;
        memset(out[r], 0, (size_t)x->head_dim * sizeof(float));
        begin = first[r] < begin ? first[r] : begin;
        end = last[r] > end ? last[r] : end;
    }
    e0_kv cache = e0_kv_head(x, op->layer, kv_head);
    for (int key = begin / E0_KEY_SPLIT * E0_KEY_SPLIT; key < end; key += E0_KEY_SPLIT) {
        x->k->attend(q, n, x->head_dim, &cache, key, first, last, op->scale, op->extra, m, s, part);
        for (int r = 0; r < n; r++) x->k->merge(max + r, sum + r, out[r], m[r], s[r], part[r], x->head_dim);
    }
    for (int r = 0; r < n; r++) {
        if (op->vector >= 0) x->k->merge(max + r, sum + r, out[r], x->vector[op->vector][head[r]], 1, NULL, x->head_dim);
        float scale = 1.0f / sum[r];
        for (int d = 0; d < x->head_dim; d++) out[r][d] *= scale;
    }
}

static void attention_item(void *arg, int item, int thread) {
    attention_args *a = arg;
    e0_exec *x = a->x;
    const e0_op *op = a->op;
    int kv_head = item % x->kv_heads, block = item / x->kv_heads, n = 0;
    const float *q[ROWS];
    float *out[ROWS], *partial = a->partial + (size_t)thread * (size_t)(ROWS * x->head_dim);
    int first[ROWS], last[ROWS], head[ROWS];
    for (int t = block * a->tokens_per_item; t < (block + 1) * a->tokens_per_item && t < x->tokens; t++)
        for (int g = 0; g < a->group; g++) {
            int h = kv_head * a->group + g, at = x->position + t;
            q[n] = e0_row(x, op->a, t) + h * x->head_dim;
            out[n] = e0_row(x, op->out, t) + h * x->head_dim;
            head[n] = h;
            first[n] = op->count > 0 && at - op->count + 1 > 0 ? at - op->count + 1 : 0;
            last[n] = at + 1;
            if (++n < ROWS) continue;
            attend_rows(a, q, out, first, last, head, n, kv_head, partial);
            n = 0;
        }
    if (n) attend_rows(a, q, out, first, last, head, n, kv_head, partial);
}

void e0_run_attention(e0_exec *x, const e0_op *op) {
    int group = op->heads / op->kv_heads;
    attention_args a = {x, op, group, group >= ROWS ? 1 : ROWS / group, 0, NULL};
    size_t bytes = (size_t)e0_pool_threads(x->pool) * (size_t)(ROWS * x->head_dim) * sizeof(float);
    if (!(a.partial = e0_scratch_get(x, SCRATCH_ATTENTION, bytes))) return;
    if (x->tokens < 8)
        for (int t = 0; t < x->tokens; t++) append_item(&a, t, 0);
    else
        e0_pool_run(x->pool, x->tokens, append_item, &a);
    a.blocks = (x->tokens + a.tokens_per_item - 1) / a.tokens_per_item;
    e0_pool_run(x->pool, a.blocks * x->kv_heads, attention_item, &a);
}

/* Copies a run of bytes from the cache to `rows`, or back, and steps on. */
static uint8_t *move_bytes(void *cache, uint8_t *rows, size_t bytes, bool out) {
    if (out) memcpy(rows, cache, bytes);
    else memcpy(cache, rows, bytes);
    return rows + bytes;
}

/* Keys lie in tiles: a whole one is moved at once, of a cut one every dim's lanes. */
static uint8_t *move_keys(const e0_exec *x, uint8_t *k, int begin, int end, uint8_t *rows, bool out) {
    size_t dim = (size_t)x->head_dim, value = (size_t)x->kv_value;
    for (int at = begin, n; at < end; at += n) {
        int lane = at % E0_KEY_TILE;
        uint8_t *tile = k + (size_t)(at - lane) * dim * value;
        n = E0_KEY_TILE - lane < end - at ? E0_KEY_TILE - lane : end - at;
        if (n == E0_KEY_TILE) rows = move_bytes(tile, rows, E0_KEY_TILE * dim * value, out);
        else
            for (size_t d = 0; d < dim; d++)
                rows = move_bytes(tile + (d * E0_KEY_TILE + (size_t)lane) * value, rows, (size_t)n * value, out);
    }
    return rows;
}

static void move_rows(const e0_exec *x, int begin, int end, uint8_t *rows, bool out) {
    size_t n = (size_t)(end - begin), row = (size_t)x->head_dim * (size_t)x->kv_value;
    for (int l = 0; l < x->layers; l++)
        for (int h = 0; h < x->kv_heads; h++) {
            e0_kv kv = e0_kv_head(x, l, h);
            rows = move_keys(x, kv.k, begin, end, rows, out);
            rows = move_bytes(kv.v + (size_t)begin * row, rows, n * row, out);
            if (!kv.k_scale) continue;
            rows = move_bytes(kv.k_scale + begin, rows, n * sizeof(float), out);
            rows = move_bytes(kv.v_scale + begin, rows, n * sizeof(float), out);
        }
}

void e0_exec_export_cache(const e0_exec *x, int begin, int end, uint8_t *rows) { move_rows(x, begin, end, rows, true); }

void e0_exec_import_cache(e0_exec *x, int begin, int end, const uint8_t *rows) {
    move_rows(x, begin, end, (uint8_t *)(uintptr_t)rows, false);
}

void e0_exec_discard_cache(e0_exec *x, int from) {
    int tile = (from + E0_KEY_TILE - 1) / E0_KEY_TILE * E0_KEY_TILE;
    size_t row = (size_t)x->head_dim * (size_t)x->kv_value;
    for (int l = 0; l < x->layers; l++)
        for (int h = 0; h < x->kv_heads; h++) {
            e0_kv kv = e0_kv_head(x, l, h);
            uint8_t *both[] = {kv.k, kv.v};
            for (int i = 0; i < 2; i++) {
                uintptr_t begin = ((uintptr_t)both[i] + (size_t)tile * row + 4095) / 4096 * 4096;
                uintptr_t end = ((uintptr_t)both[i] + (size_t)x->positions * row) / 4096 * 4096;
                if (end > begin) e0_pages_discard((void *)begin, end - begin);
            }
        }
}
