/* Attention over the KV cache. Keys are taken in splits of 512 whose partial results are merged in order,
 * so decode and prefill of any chunking give the same bits.
 *
 * Many tokens: a few tokens go through a split together while it is in the core's cache. One token: its
 * splits are shared among the threads, and merged afterwards. */
#include "exec.h"

#include <math.h>
#include <string.h>

enum { ROWS = 8, SETS = 8 };

/* Query rows that share a kv head, and what is known of them so far. */
typedef struct {
    int n, first[ROWS], last[ROWS], head[ROWS];
    const float *q[ROWS];
    float *out[ROWS], max[ROWS], sum[ROWS];
} row_set;

typedef struct {
    e0_exec *x;
    const e0_op *op;
    int group, tokens_per_item, begin, splits; /* begin: the first split one token sees */
    float *partial; /* ROWS rows of head_dim; one per thread, or per row of one token and split */
    float *found;   /* one token: max and sum, as `partial` */
} attention_args;

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

static int first_key(const attention_args *a, int position) {
    int first = position - a->op->count + 1; /* count: the sliding window, 0 none */
    return a->op->count > 0 && first > 0 ? first : 0;
}

static void add_row(const attention_args *a, row_set *s, int token, int head) {
    e0_exec *x = a->x;
    int r = s->n++, at = x->position + token;
    s->q[r] = e0_row(x, a->op->a, token) + head * x->head_dim;
    s->out[r] = e0_row(x, a->op->out, token) + head * x->head_dim;
    s->head[r] = head, s->first[r] = first_key(a, at), s->last[r] = at + 1;
    s->max[r] = -INFINITY, s->sum[r] = 0;
    memset(s->out[r], 0, (size_t)x->head_dim * sizeof(float));
}

/* The rows of `tokens` tokens from `first` on; returns how many sets they fill. */
static int fill_sets(const attention_args *a, int kv_head, int first, int tokens, row_set *set) {
    int sets = 1;
    set->n = 0;
    for (int t = first; t < first + tokens; t++)
        for (int g = 0; g < a->group; g++) {
            if (set[sets - 1].n == ROWS) set[sets++].n = 0;
            add_row(a, set + sets - 1, t, kv_head * a->group + g);
        }
    return sets;
}

static bool sees(const row_set *s, int split) { /* rows are in the order of tokens */
    return s->first[0] < split + E0_KEY_SPLIT && s->last[s->n - 1] > split;
}

static void fold(const attention_args *a, row_set *s, int r, float max, float sum, const float *part) {
    a->x->k->merge(s->max + r, s->sum + r, s->out[r], max, sum, part, a->x->head_dim);
}

static void attend_split(const attention_args *a, row_set *s, const e0_kv *cache, int split, float *partial) {
    e0_exec *x = a->x;
    float max[ROWS], sum[ROWS], *part[ROWS];
    for (int r = 0; r < s->n; r++) part[r] = partial + r * x->head_dim;
    x->k->attend(s->q, s->n, x->head_dim, cache, split, s->first, s->last, a->op->scale, a->op->extra, max, sum, part);
    for (int r = 0; r < s->n; r++) fold(a, s, r, max[r], sum[r], part[r]);
}

/* The sink, if there is one, and the division by the sum. */
static void finish(const attention_args *a, row_set *s) {
    for (int r = 0; r < s->n; r++) {
        if (a->op->vector >= 0) fold(a, s, r, a->x->vector[a->op->vector][s->head[r]], 1, NULL);
        float scale = 1.0f / s->sum[r];
        for (int d = 0; d < a->x->head_dim; d++) s->out[r][d] *= scale;
    }
}

static void tokens_item(void *arg, int item, int thread) {
    attention_args *a = arg;
    e0_exec *x = a->x;
    int kv_head = item % x->kv_heads, token = item / x->kv_heads * a->tokens_per_item, left = x->tokens - token;
    int tokens = left < a->tokens_per_item ? left : a->tokens_per_item, end = x->position + token + tokens;
    row_set set[SETS];
    int sets = fill_sets(a, kv_head, token, tokens, set);
    e0_kv cache = e0_kv_head(x, a->op->layer, kv_head);
    float *partial = a->partial + (size_t)thread * (size_t)(ROWS * x->head_dim);
    for (int split = set->first[0] / E0_KEY_SPLIT * E0_KEY_SPLIT; split < end; split += E0_KEY_SPLIT)
        for (int i = 0; i < sets; i++)
            if (sees(set + i, split)) attend_split(a, set + i, &cache, split, partial);
    for (int i = 0; i < sets; i++) finish(a, set + i);
}

/* ---- one token ---- */
static size_t part_row(const attention_args *a, int split, int head) {
    return (size_t)split * (size_t)a->op->heads + (size_t)head;
}

static void split_item(void *arg, int item, int thread) {
    (void)thread;
    attention_args *a = arg;
    e0_exec *x = a->x;
    int kv_head = item % x->kv_heads, split = item / x->kv_heads, head = kv_head * a->group;
    e0_kv cache = e0_kv_head(x, a->op->layer, kv_head);
    for (int g = 0; g < a->group; g += ROWS) {
        int n = a->group - g < ROWS ? a->group - g : ROWS, first[ROWS], last[ROWS];
        const float *q[ROWS];
        float *part[ROWS], *found = a->found + part_row(a, split, head + g) * 2;
        for (int r = 0; r < n; r++) {
            q[r] = e0_row(x, a->op->a, 0) + (head + g + r) * x->head_dim;
            part[r] = a->partial + part_row(a, split, head + g + r) * (size_t)x->head_dim;
            first[r] = first_key(a, x->position), last[r] = x->position + 1;
        }
        x->k->attend(q, n, x->head_dim, &cache, a->begin + split * E0_KEY_SPLIT, first, last, a->op->scale, a->op->extra,
                     found, found + n, part);
    }
}

static void merge_splits(attention_args *a) {
    for (int kv_head = 0; kv_head < a->x->kv_heads; kv_head++)
        for (int g = 0; g < a->group; g += ROWS) {
            row_set s = {0};
            for (int r = 0; r < ROWS && g + r < a->group; r++) add_row(a, &s, 0, kv_head * a->group + g + r);
            for (int split = 0; split < a->splits; split++)
                for (int r = 0; r < s.n; r++) {
                    const float *found = a->found + part_row(a, split, s.head[0]) * 2;
                    const float *part = a->partial + part_row(a, split, s.head[r]) * (size_t)a->x->head_dim;
                    fold(a, &s, r, found[r], found[s.n + r], part);
                }
            finish(a, &s);
        }
}

static void run_one(e0_exec *x, attention_args *a) {
    a->begin = first_key(a, x->position) / E0_KEY_SPLIT * E0_KEY_SPLIT;
    a->splits = (x->position + E0_KEY_SPLIT - a->begin) / E0_KEY_SPLIT;
    size_t rows = (size_t)a->splits * (size_t)a->op->heads;
    if (!(a->partial = e0_scratch_get(x, SCRATCH_ATTENTION, rows * (size_t)(x->head_dim + 2) * sizeof(float)))) return;
    a->found = a->partial + rows * (size_t)x->head_dim;
    e0_pool_run(x->pool, a->splits * x->kv_heads, split_item, a);
    merge_splits(a);
}

static void run_many(e0_exec *x, attention_args *a) {
    size_t bytes = (size_t)e0_pool_threads(x->pool) * (size_t)(ROWS * x->head_dim) * sizeof(float);
    if (!(a->partial = e0_scratch_get(x, SCRATCH_ATTENTION, bytes))) return;
    a->tokens_per_item = a->group >= ROWS * SETS ? 1 : ROWS * SETS / a->group;
    int blocks = (x->tokens + a->tokens_per_item - 1) / a->tokens_per_item;
    e0_pool_run(x->pool, blocks * x->kv_heads, tokens_item, a);
}

void e0_run_attention(e0_exec *x, const e0_op *op) {
    attention_args a = {.x = x, .op = op, .group = op->heads / op->kv_heads};
    if (x->tokens < 8)
        for (int t = 0; t < x->tokens; t++) append_item(&a, t, 0);
    else
        e0_pool_run(x->pool, x->tokens, append_item, &a);
    if (x->tokens == 1) run_one(x, &a);
    else run_many(x, &a);
}
