/* Which experts: the router's choice for a layer, and its guess for the next. */
#include "exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    e0_exec *x;
    const e0_op *op;
    float *logits;
    int stride;
} router_args;

/* The k best, best first, lower id first among equals; overwrites `score`. */
static void choose(float *score, int n, int k, int32_t *ids) {
    for (int i = 0; i < k; i++) {
        int best = 0;
        for (int e = 1; e < n; e++) best = score[e] > score[best] ? e : best;
        ids[i] = best;
        score[best] = -INFINITY;
    }
}

static void route_item(void *arg, int t, int thread) {
    (void)thread;
    router_args *a = arg;
    const e0_op *op = a->op;
    e0_exec *x = a->x;
    float *score = a->logits + (size_t)t * (size_t)a->stride, *gates = e0_row(x, op->b, t), total = 0;
    int32_t *ids = (int32_t *)e0_row(x, op->out, t);
    if (op->flags & 2)
        for (int e = 0; e < op->count; e++) score[e] = 1.0f / (1.0f + expf(-score[e]));
    else
        x->k->softmax(score, op->count);
    float *ranked = score + a->stride / 2;
    if (op->vector >= 0) x->k->add(score, x->vector[op->vector], op->count, ranked); /* takes part in choosing only */
    else memcpy(ranked, score, (size_t)op->count * sizeof *ranked);
    choose(ranked, op->count, op->top_k, ids);
    for (int i = 0; i < op->top_k; i++) total += gates[i] = score[ids[i]];
    for (int i = 0; i < op->top_k; i++) gates[i] = (op->flags & 1 ? gates[i] / total : gates[i]) * op->scale;
}

void e0_run_router(e0_exec *x, const e0_op *op) {
    int stride = 2 * ((op->count + E0_STRIP - 1) / E0_STRIP * E0_STRIP);
    float *logits = e0_scratch_get(x, SCRATCH_LOGITS, (size_t)x->tokens * (size_t)stride * sizeof(float));
    if (!logits) return;
    e0_buffer borrowed = x->buffer[op->out]; /* the logits stand in for the ids' buffer while linears run */
    x->buffer[op->out] = (e0_buffer){logits - (size_t)x->first * (size_t)stride, op->count, stride, 2};
    e0_op linear = {.kind = E0_LINEAR, .out = op->out, .a = op->a, .weight = op->weight, .vector = -1, .layer = -1};
    e0_run_linears(x, &linear, &linear + 1);
    x->buffer[op->out] = borrowed;
    if (x->out_of_memory) return;
    router_args a = {x, op, logits, stride};
    if (x->tokens < 4)
        for (int t = 0; t < x->tokens; t++) route_item(&a, t, 0);
    else
        e0_pool_run(x->pool, x->tokens, route_item, &a);
}

/* ---- prediction ---- */
enum { PREDICT_ROWS = 32 }; /* tokens of a long chunk that are asked */

typedef struct {
    e0_exec *x;
    const e0_matrix *m;
    const e0_panel *panels;
    int n_panels, strips, step;
    float *const *y;
} ask_args;

static void ask_item(void *arg, int item, int thread) {
    (void)thread;
    ask_args *a = arg;
    int begin = item * a->step, end = begin + a->step < a->strips ? begin + a->step : a->strips;
    a->x->k->matmul(a->m, a->m->data, begin, end, NULL, a->panels, a->n_panels, a->y);
}

/* A router's scores for `n` of this layer's inputs, spread over the chunk. False when memory is short. */
static bool ask_router(e0_exec *x, const e0_matrix *m, const e0_layer_input *in, int n, float **y) {
    int strips = e0_strips(m), panels = e0_panel_count(n), step = n > 1 ? 1 : 4;
    size_t floats = (size_t)n * (size_t)strips * E0_STRIP * sizeof(float);
    uint8_t *at = e0_scratch_get(x, SCRATCH_PREDICT, floats + (size_t)panels * sizeof(e0_panel) + e0_gathered_bytes(n, m->cols));
    e0_rows rows = m->format < E0_BF16 && !in->rows.q ? e0_quantize(x, in->data, in->stride, x->tokens, m->cols) : in->rows;
    if (x->out_of_memory) return false;
    e0_panel *panel = (e0_panel *)(at + floats);
    int32_t row[PREDICT_ROWS];
    for (int i = 0; i < n; i++) {
        row[i] = (int32_t)((int64_t)x->tokens * i / n);
        y[i] = (float *)at + (size_t)i * (size_t)strips * E0_STRIP;
    }
    e0_panels(x, m->format < E0_BF16 ? &rows : NULL, in->data, in->stride, row, n, panel, (uint8_t *)(panel + panels));
    ask_args a = {x, m, panel, panels, strips, step, y};
    e0_pool_run(x->pool, (strips + step - 1) / step, ask_item, &a);
    return true;
}

static int by_votes(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* What the next layer's router makes of this layer's input is close to what it will choose. Fills `ids` with
 * the experts named, the surest first (equals in file order); how many. */
static int guess(e0_exec *x, const e0_op *router, const e0_layer_input *in, int32_t *ids, int64_t *vote) {
    int rows = x->tokens < PREDICT_ROWS ? x->tokens : PREDICT_ROWS, experts = router->count, n = 0;
    float *y[PREDICT_ROWS];
    int32_t chosen[E0_MAX_TOP_K];
    if (!ask_router(x, x->matrix + router->c, in, rows, y)) return 0;
    if (rows == 1) return choose(y[0], experts, router->top_k, ids), router->top_k;
    for (int e = 0; e < experts; e++) vote[e] = experts - 1 - e;
    for (int i = 0; i < rows; i++) {
        choose(y[i], experts, router->top_k, chosen);
        for (int s = 0; s < router->top_k; s++) vote[chosen[s]] += (int64_t)(router->top_k - s) << 32;
    }
    qsort(vote, (size_t)experts, sizeof *vote, by_votes);
    for (; n < experts && vote[n] >> 32; n++) ids[n] = experts - 1 - (int32_t)(vote[n] & 0xffffffff);
    return n;
}

void e0_predict(e0_exec *x, int layer, const e0_layer_input *in, const e0_op *next, const e0_op *end) {
    while (next < end && next->kind != E0_ROUTER && next->kind != E0_EXPERTS) next++;
    if (next == end || x->prediction < 0 || !e0_store_predicts(x->store)) return;
    int experts = next->count, n, sure;
    int limit = x->tokens >= PREDICT_ROWS ? experts : x->prediction * x->tokens;
    int64_t *vote = e0_scratch_get(x, SCRATCH_VOTES, (size_t)experts * (sizeof *vote + sizeof(int32_t)));
    if (!vote) return;
    int32_t *ids = (int32_t *)(vote + experts);
    if (next->kind == E0_ROUTER) {
        n = next->c < 0 ? 0 : guess(x, next, in, ids, vote);
        sure = x->tokens > 1 ? n : (3 * n + 3) / 4; /* of the last quarter two reads in five were wasted: kept, not read */
    } else {
        n = next->b < 0 ? experts : 0; /* all experts are used: no guess needed */
        for (int i = 0; i < n; i++) ids[i] = i;
        limit = sure = n;
    }
    e0_store_predict(x->store, layer, ids, n, sure, limit);
}
