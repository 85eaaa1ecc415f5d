/* The routed experts of a layer: those in memory are computed while the others are read.
 * Every (token, slot) gets its own output row, combined at the end in slot order, so the order in which
 * experts arrive never shows in the result. */
#include "exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    e0_exec *x;
    const e0_op *op, *end; /* of the program */
    const e0_matrix *m; /* gate, up, down */
    int k, groups, hidden_blocks, in_blocks;
    e0_group *group;          /* one per distinct expert */
    int32_t *entry, *row;     /* assignments ordered by expert: entry = token * k + slot, row = token */
    e0_layer_input in;
    e0_panel *panel, *hidden; /* inputs, and act(gate) * up, of every group's panels */
    float **y;                /* output row of every assignment, ordered like `entry` */
    float *out;
    int out_stride;
    int32_t *active, *cut; /* the groups at hand; units of every item of the pool */
    int n_active, unit, per_group; /* a unit is so many blocks of gate and up, or strips of down */
    uint8_t *gathered;
    float *hidden_float; /* for unquantised down matrices: [assignment][width] */
    int width_padded;
    float ones[E0_MAX_TOP_K]; /* the gates of a dense feed-forward */
    float *tmp;                  /* per thread: `blocks_at_once` blocks of gate and up for every token of a group */
    int largest, blocks_at_once; /* tokens of the largest group */
} expert_args;

enum { MAX_BLOCKS = 4, UNIT_BLOCKS = 2, UNIT_STRIPS = 4 }; /* the kernels take four strips side by side */

/* Of `tmp`, for one thread. */
static size_t tmp_floats(const expert_args *a) { return (size_t)(a->largest * a->blocks_at_once * 2 * E0_BLOCK); }

/* The part of an item that is next: one group's units. */
typedef struct {
    const e0_group *group;
    int first, last; /* unit within the group, and the one after */
    const e0_group *then; /* the item goes on with this group, or NULL */
} run_part;

/* Takes the next part from units [*u, end). */
static run_part take_part(const expert_args *a, int *u, int end) {
    int at = *u / a->per_group, first = *u % a->per_group, n = end - *u;
    run_part part = {a->group + a->active[at], first, first + n, NULL};
    if (part.last > a->per_group) part.last = a->per_group, part.then = a->group + a->active[at + 1];
    *u += part.last - first;
    return part;
}

static bool quantised_input(const expert_args *a) { return e0_quantised(a->m) || e0_quantised(a->m + 1); }

/* Gate and up of rows [32 first, 32 last) for every token of the group: y[t] is gate, y[t] + wide up. */
static void multiply_both(const expert_args *a, const e0_group *g, int first, int last, const uint8_t *then, float *tmp,
                          float **y) {
    int all = e0_strips(a->m), begin = 2 * first, end = 2 * last < all ? 2 * last : all;
    int wide = a->blocks_at_once * E0_BLOCK, n = g->end - g->begin;
    const e0_panel *in = a->panel + g->first_panel;
    const uint8_t *gate = g->data + a->m[0].offset, *up = g->data + a->m[1].offset;
    for (int t = 0; t < n; t++) y[t] = tmp + 2 * t * wide - begin * E0_STRIP;
    a->x->k->matmul(a->m, gate, begin, end, up + begin * a->m[1].strip_bytes, in, g->panels, y);
    for (int t = 0; t < n; t++) y[t] += wide;
    a->x->k->matmul(a->m + 1, up, begin, end, then, in, g->panels, y);
}

/* act(gate) * up of one token, stored as that block of the down matrix's input. */
static void activate(const expert_args *a, const e0_panel *h, int token, int block, const float *gate) {
    int left = a->m[0].rows - block * E0_BLOCK, width = left < E0_BLOCK ? left : E0_BLOCK;
    float *to = (float *)(uintptr_t)h->x[token] + block * E0_BLOCK;
    a->x->k->gate(gate, gate + a->blocks_at_once * E0_BLOCK, width, a->op->flags, to);
    if (!e0_quantised(a->m + 2)) return;
    int at = block * h->tokens + token;
    a->x->k->quantize_row(to, width, (int8_t *)(uintptr_t)h->q + at * E0_BLOCK, (float *)(uintptr_t)h->scale + at,
                          (int32_t *)(uintptr_t)h->bias + at);
}

/* Blocks [first, last) of gate and up of one group, multiplied and activated. */
static void up_blocks(expert_args *a, const e0_group *g, int first, int last, const uint8_t *then, int thread) {
    size_t floats = tmp_floats(a);
    float *gate = a->tmp + (size_t)thread * floats;
    float **y = (float **)(a->tmp + (size_t)e0_pool_threads(a->x->pool) * floats) + (size_t)thread * (size_t)a->largest;
    multiply_both(a, g, first, last, then, gate, y);
    for (int p = 0; p < g->panels; p++) {
        const e0_panel *h = a->hidden + g->first_panel + p;
        for (int t = 0; t < h->tokens; t++, gate += 2 * a->blocks_at_once * E0_BLOCK)
            for (int b = first; b < last; b++) activate(a, h, t, b, gate + (b - first) * E0_BLOCK);
    }
}

static const uint8_t *gate_rows(const expert_args *a, const e0_group *g, int block) {
    return g->data + a->m[0].offset + 2 * block * a->m[0].strip_bytes;
}

/* The first half of the experts. */
static void up_item(void *arg, int item, int thread) {
    expert_args *a = arg;
    int all = (a->m[0].rows + E0_BLOCK - 1) / E0_BLOCK;
    for (int u = a->cut[item]; u < a->cut[item + 1];) {
        run_part part = take_part(a, &u, a->cut[item + 1]);
        int end = part.last * a->unit < all ? part.last * a->unit : all;
        for (int b = part.first * a->unit, to; b < end; b = to) {
            to = b + a->blocks_at_once < end ? b + a->blocks_at_once : end;
            const uint8_t *then = to < end ? gate_rows(a, part.group, to) : part.then ? gate_rows(a, part.then, 0) : NULL;
            up_blocks(a, part.group, b, to, then, thread);
        }
    }
}

/* The second half. */
static void down_item(void *arg, int item, int thread) {
    (void)thread;
    expert_args *a = arg;
    const e0_matrix *m = a->m + 2;
    int strips = e0_strips(m);
    for (int u = a->cut[item]; u < a->cut[item + 1];) {
        run_part part = take_part(a, &u, a->cut[item + 1]);
        const e0_group *g = part.group;
        int end = part.last * a->unit < strips ? part.last * a->unit : strips;
        const uint8_t *then = part.then ? part.then->data + m->offset : NULL;
        a->x->k->matmul(m, g->data + m->offset, part.first * a->unit, end, then, a->hidden + g->first_panel, g->panels,
                        a->y + g->begin);
    }
}

static void gather_item(void *arg, int item, int thread) {
    (void)thread;
    expert_args *a = arg;
    e0_group *g = a->group + item;
    size_t at = (size_t)g->begin * (size_t)(a->in_blocks * (E0_BLOCK + 8));
    e0_panels(a->x, quantised_input(a) ? &a->in.rows : NULL, a->in.data, a->in.stride, a->row + g->begin, g->end - g->begin,
              a->panel + g->first_panel, a->gathered + at);
}

static int units_of(int rows, int unit_rows) { return (rows + unit_rows - 1) / unit_rows; }

/* Runs `fn` over the active groups: `per_group` units each, of so many blocks or strips. */
static void run_items(expert_args *a, int unit, int per_group, e0_item_fn fn) {
    int units = a->n_active * per_group;
    a->unit = unit, a->per_group = per_group;
    if (!(a->cut = e0_scratch_get(a->x, SCRATCH_CUTS, (size_t)(units + 1) * sizeof *a->cut))) return;
    e0_pool_run(a->x->pool, e0_pool_cut(a->x->pool, units, a->cut), fn, a);
}

/* Both halves of the groups in `active`: blocks of gate and up, then strips of down. */
static void compute(expert_args *a) {
    if (!a->n_active) return;
    int blocks = a->largest > 1 ? 1 : UNIT_BLOCKS;
    run_items(a, blocks, units_of(a->m[0].rows, blocks * E0_BLOCK), up_item);
    run_items(a, UNIT_STRIPS, units_of(a->m[2].rows, UNIT_STRIPS * E0_STRIP), down_item);
}

static void combine_item(void *arg, int t, int thread) {
    (void)thread;
    expert_args *a = arg;
    e0_exec *x = a->x;
    const float *rows[E0_MAX_TOP_K], *gates = a->ones;
    for (int s = 0; s < a->k; s++) rows[s] = a->out + (size_t)(t * a->k + s) * (size_t)a->out_stride;
    if (a->op->c >= 0) gates = e0_row(x, a->op->c, t);
    x->k->combine(rows, gates, a->k, x->buffer[a->op->out].width, e0_row(x, a->op->out, t));
}

/* Orders the chunk's assignments by expert; fills group, entry, row. False when memory is short. */
static bool group_assignments(expert_args *a) {
    e0_exec *x = a->x;
    const e0_op *op = a->op;
    int n = x->tokens * a->k, experts = op->count;
    size_t ints = (size_t)experts * 2 + 1 + 2 * (size_t)n;
    uint8_t *at = e0_scratch_get(x, SCRATCH_GROUPS, (size_t)experts * sizeof(e0_group) + ints * sizeof(int32_t));
    if (!at) return false;
    a->group = (e0_group *)at;
    int32_t *start = (int32_t *)(at + (size_t)experts * sizeof(e0_group));
    a->active = start + experts + 1;
    a->entry = a->active + experts, a->row = a->entry + n;
    memset(start, 0, (size_t)(experts + 1) * sizeof *start);
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < x->tokens; t++) {
            const int32_t *ids = op->b >= 0 ? (const int32_t *)e0_row(x, op->b, t) : NULL;
            for (int s = 0; s < a->k; s++) {
                int e = ids ? ids[s] : s;
                if (pass == 0) start[e + 1]++;
                else a->entry[start[e]] = t * a->k + s, a->row[start[e]++] = t;
            }
        }
        if (pass == 0)
            for (int e = 0; e < experts; e++) start[e + 1] += start[e];
    }
    int panel = 0, begin = 0;
    for (int e = 0; e < experts; begin = start[e++]) {
        if (start[e] == begin) continue;
        int size = start[e] - begin, panels = e0_panel_count(size);
        a->group[a->groups++] = (e0_group){e, begin, start[e], panel, panels, NULL};
        panel += panels;
        a->largest = size > a->largest ? size : a->largest;
    }
    return true;
}

/* Lays out where every panel's hidden activations go. */
static void lay_hidden(expert_args *a, uint8_t *quantised_at) {
    for (int i = 0; i < a->groups; i++) {
        const e0_group *g = a->group + i;
        int at = g->begin, size = g->end - g->begin;
        for (int p = 0; p < g->panels; p++) {
            e0_panel *h = a->hidden + g->first_panel + p;
            int n = (int)((int64_t)size * (p + 1) / g->panels) - (int)((int64_t)size * p / g->panels);
            uint8_t *q = quantised_at + (size_t)at * (size_t)(a->hidden_blocks * (E0_BLOCK + 8));
            size_t blocks = (size_t)n * (size_t)a->hidden_blocks;
            h->tokens = n;
            h->q = (int8_t *)q;
            h->scale = (float *)(q + blocks * E0_BLOCK);
            h->bias = (int32_t *)(h->scale + blocks);
            for (int t = 0; t < n; t++) h->x[t] = a->hidden_float + (size_t)(at + t) * (size_t)a->width_padded;
            at += n;
        }
    }
}

static bool allocate(expert_args *a) {
    e0_exec *x = a->x;
    int n = x->tokens * a->k, panels = a->group[a->groups - 1].first_panel + a->group[a->groups - 1].panels;
    int threads = e0_pool_threads(x->pool), hidden_cols = a->m[2].cols;
    a->blocks_at_once = a->largest > 1 ? 1 : MAX_BLOCKS;
    a->hidden_blocks = (hidden_cols + E0_BLOCK - 1) / E0_BLOCK;
    a->in_blocks = (a->m[0].cols + E0_BLOCK - 1) / E0_BLOCK;
    a->width_padded = a->hidden_blocks * E0_BLOCK;
    a->out_stride = e0_strips(a->m + 2) * E0_STRIP;
    a->panel = e0_scratch_get(x, SCRATCH_PANELS, 2 * (size_t)panels * sizeof(e0_panel));
    a->gathered = e0_scratch_get(x, SCRATCH_GATHERED, e0_gathered_bytes(n, a->m[0].cols));
    size_t hidden = (size_t)n * (size_t)a->width_padded * sizeof(float);
    uint8_t *h = e0_scratch_get(x, SCRATCH_HIDDEN, hidden + e0_gathered_bytes(n, hidden_cols));
    a->tmp = e0_scratch_get(x, SCRATCH_GATE, (size_t)threads * (tmp_floats(a) * sizeof(float) + (size_t)a->largest * sizeof(float *)));
    a->out = e0_scratch_get(x, SCRATCH_OUT, (size_t)n * (size_t)a->out_stride * sizeof(float));
    a->y = e0_scratch_get(x, SCRATCH_POINTERS, (size_t)n * sizeof *a->y);
    if (x->out_of_memory) return false;
    a->hidden = a->panel + panels;
    a->hidden_float = (float *)h;
    lay_hidden(a, h + hidden);
    for (int i = 0; i < n; i++) a->y[i] = a->out + (size_t)a->entry[i] * (size_t)a->out_stride;
    return true;
}

/* Those in memory first; then each batch of reads as it arrives. -1 on a read error. */
static int compute_all(expert_args *a) {
    e0_exec *x = a->x;
    int layer = a->op->layer, left = a->groups, status = 0;
    int32_t *experts = malloc((size_t)a->groups * (3 * sizeof(int32_t) + sizeof(bool)));
    if (!experts) return x->out_of_memory = true, 0;
    int32_t *tokens = experts + a->groups, *arrived = tokens + a->groups;
    bool *ready = (bool *)(arrived + a->groups);
    for (int i = 0; i < a->groups; i++) {
        experts[i] = a->group[i].expert;
        tokens[i] = a->group[i].end - a->group[i].begin;
    }
    e0_store_acquire(x->store, layer, experts, tokens, a->groups, ready);
    e0_predict(x, layer + 1, &a->in, a->op + 1, a->end);
    for (int i = 0; i < a->groups; i++)
        if (ready[i]) a->active[a->n_active++] = i;
    while (true) {
        for (int i = 0; i < a->n_active; i++)
            a->group[a->active[i]].data = e0_store_data(x->store, layer, a->group[a->active[i]].expert);
        compute(a);
        for (int i = 0; i < a->n_active; i++) e0_store_release(x->store, a->active[i]);
        if (!(left -= a->n_active)) break;
        double start = e0_now();
        a->n_active = e0_store_next(x->store, arrived, a->groups);
        x->times.wait_s += e0_now() - start;
        if (a->n_active < 0) {
            status = -1;
            break;
        }
        memcpy(a->active, arrived, (size_t)a->n_active * sizeof *arrived);
    }
    e0_store_end(x->store);
    free(experts);
    return status;
}

int e0_run_experts(e0_exec *x, const e0_op *op, const e0_op *end) {
    expert_args a = {.x = x, .op = op, .end = end, .m = x->record[op->layer], .k = op->top_k};
    for (int i = 0; i < a.k; i++) a.ones[i] = 1.0f;
    if (!group_assignments(&a)) return 0;
    a.in.data = e0_row(x, op->a, 0);
    a.in.stride = x->buffer[op->a].stride;
    if (quantised_input(&a)) a.in.rows = e0_quantize(x, a.in.data, a.in.stride, x->tokens, a.m[0].cols);
    if (!allocate(&a)) return 0;
    if (x->tokens < 4)
        for (int i = 0; i < a.groups; i++) gather_item(&a, i, 0);
    else
        e0_pool_run(x->pool, a.groups, gather_item, &a);
    if (compute_all(&a)) return -1;
    if (x->tokens < 4)
        for (int t = 0; t < x->tokens; t++) combine_item(&a, t, 0);
    else
        e0_pool_run(x->pool, x->tokens, combine_item, &a);
    return 0;
}
