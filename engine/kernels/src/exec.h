/* What the executor's files share: the context, its scratch memory, and one function per kind of op. */
#ifndef E0_EXEC_H
#define E0_EXEC_H
#include "e0.h"

typedef struct {
    float *data;
    int width, stride, rows; /* floats; stride is width padded to a strip */
} e0_buffer;

typedef struct {
    void *data;
    size_t bytes;
} e0_scratch;

/* Rows quantised for the matrices: q[row][cols], scale and bias[row][blocks]. */
typedef struct {
    int8_t *q;
    float *scale;
    int32_t *bias;
    int cols, blocks;
} e0_rows;

/* What a layer's experts work on: floats, and the same quantised where their matrices are. */
typedef struct {
    const float *data;
    int stride;
    e0_rows rows;
} e0_layer_input;

/* One run of assignments (token, slot) of one expert, split in panels. */
typedef struct {
    int expert, begin, end, first_panel, panels;
    const uint8_t *data;
} e0_group;

enum { SCRATCH_ROWS, SCRATCH_PANELS, SCRATCH_GATHERED, SCRATCH_POINTERS, SCRATCH_HIDDEN, SCRATCH_GATE, SCRATCH_OUT,
       SCRATCH_GROUPS, SCRATCH_LOGITS, SCRATCH_ROTARY, SCRATCH_ATTENTION, SCRATCH_PREDICT,
       SCRATCH_VOTES, SCRATCH_CUTS, SCRATCH_COUNT };

struct e0_exec {
    const e0_kernels *k;
    e0_pool *pool;
    e0_store *store;
    e0_matrix *matrix;
    const float **vector;
    int *vector_size;
    e0_buffer *buffer;
    e0_matrix (*record)[3]; /* per layer: gate, up, down */
    int matrices, vectors, buffers, record_layers;
    uint8_t **k_cache, **v_cache; /* per layer: [head], each as e0_kv says */
    float **kv_scale;             /* per layer, int8 only: K's [head][position], then V's */
    int kv_value;                 /* bytes of a cached value: 2 fp16, 1 int8 */
    int layers, kv_heads, head_dim, positions;
    e0_scratch scratch[SCRATCH_COUNT];
    e0_times times;
    int first, tokens, position; /* the chunk at hand */
    const float *rotary_of;      /* vector whose cos and sin SCRATCH_ROTARY holds for this chunk */
    int prediction;              /* reads a layer may make ahead; -1 off */
    bool out_of_memory;
};

static inline int e0_strips(const e0_matrix *m) { return (m->rows + E0_STRIP - 1) / E0_STRIP; }
static inline bool e0_quantised(const e0_matrix *m) { return m->format < E0_BF16; }

void *e0_scratch_get(e0_exec *, int which, size_t bytes); /* 64-byte aligned; grows; NULL sets out_of_memory */
float *e0_row(const e0_exec *, int buffer, int token);    /* token counts from the chunk's first row */
e0_rows e0_quantize(e0_exec *, const float *x, int stride, int tokens, int cols);
/* Panels over rows taken in order; `gathered` is where interleaved copies go (not needed for one row). */
int e0_panel_count(int tokens);
void e0_panels(e0_exec *, const e0_rows *, const float *x, int stride, const int32_t *row, int tokens, e0_panel *out,
               uint8_t *gathered);
size_t e0_gathered_bytes(int tokens, int cols);

e0_kv e0_kv_head(const e0_exec *, int layer, int head);
/* The linears from `op` to `end`, of the program, that read the same buffer; returns how many. */
int e0_run_linears(e0_exec *, const e0_op *op, const e0_op *end);
void e0_run_attention(e0_exec *, const e0_op *);
void e0_run_router(e0_exec *, const e0_op *);
/* `end`: of the program; what comes next is foreseen. -1 on a read error. */
int e0_run_experts(e0_exec *, const e0_op *, const e0_op *end);
/* Keeps, and reads ahead, what `layer` will probably use: what chooses there (its router, or its experts where all
 * are used) is found from op `next` on, `in` is the input here. */
void e0_predict(e0_exec *, int layer, const e0_layer_input *in, const e0_op *next, const e0_op *end);
#endif
