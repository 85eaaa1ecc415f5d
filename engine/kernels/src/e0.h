/* Edge0's native library: one shared object, C ABI, no state outside the contexts it returns.
 *
 * kernels_*.c   the same maths (kernels.inc) compiled once per instruction set, behind `e0_kernels`
 * pool.c        the compute threads: spin briefly, then sleep
 * store*.c      the expert table; slots.c: room in it; reads.c: bringing records in; window.c: mapped
 * exec.c        runs a whole program for one chunk in one call: linear.c, attention.c, router.c, experts.c
 * mapguard.c    survives a mapped file that is cut short
 * bandwidth.c   measures what memory gives
 * platform.c    threads, files and memory maps of each system
 *
 * Weight layout: engine/formats.py. Row order of every sum is fixed, so a result never depends on the
 * number of threads, the size of the chunk or where a weight came from. */
#ifndef E0_H
#define E0_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define E0_API __declspec(dllexport)
#else
#define E0_API __attribute__((visibility("default")))
#endif

enum { E0_STRIP = 16, E0_BLOCK = 32, E0_PANEL = 12, E0_KEY_TILE = 16, E0_KEY_SPLIT = 512, E0_MAX_TOP_K = 64 };

typedef enum { E0_TABLE4 = 0, E0_TABLE4_BF16_SCALE = 1, E0_INT8 = 2, E0_BF16 = 3, E0_F32 = 4 } e0_format;

/* A packed weight matrix: strips of 16 rows (engine/formats.py). `data` may be NULL for a record's
 * matrix, whose bytes start at the record's address plus `offset`. */
typedef struct {
    int32_t format, rows, cols;
    int64_t offset, strip_bytes;
    const uint8_t *data;
    int8_t table[16];
} e0_matrix;

/* Activations of up to E0_PANEL tokens as the kernels eat them, block by block of 32 columns:
 * q[block][token][32], scale[block][token], bias[block][token] = -128 · Σq (the weights are fed as
 * unsigned w + 128). `x` are the same tokens in float for unquantised formats. */
typedef struct {
    const int8_t *q;
    const float *scale;
    const int32_t *bias;
    const float *x[E0_PANEL];
    int32_t tokens;
} e0_panel;

/* One kv head's cache. K: tiles of 16 keys, [tile][dim][16]; V: [key][dim]. fp16, or int8 with one
 * scale per key where the scales are not NULL. */
typedef struct {
    uint8_t *k, *v;
    float *k_scale, *v_scale;
} e0_kv;

typedef struct {
    const char *name;
    void (*quantize_row)(const float *x, int cols, int8_t *q, float *scale, int32_t *bias);
    /* y[t][16 * strip + r] for strips [begin, end) of w and every token of every panel. `then`: strips of the
     * same width that are read afterwards, or NULL. */
    void (*matmul)(const e0_matrix *w, const uint8_t *data, int begin, int end, const uint8_t *then,
                   const e0_panel *panels, int n_panels, float *const *y);
    void (*rms_norm)(const float *x, const float *weight, int width, float eps, float *out);
    void (*add)(const float *a, const float *b, int n, float *out);
    void (*gate)(const float *gate, const float *up, int n, int activation, float *out);
    void (*combine)(const float *const *rows, const float *gates, int k, int n, float *out);
    void (*rotate)(float *x, const float *cos, const float *sin, int half);
    void (*store_kv)(const float *k, const float *v, int head_dim, const e0_kv *head, int position);
    /* Partial attention of `rows` queries (≤ 8) over keys [begin, end) of one 512-key split. */
    void (*attend)(const float *const *q, int rows, int head_dim, const e0_kv *head, int begin, const int *first,
                   const int *last, float scale, float soft_cap, float *max_out, float *sum_out, float *const *out);
    /* Folds a later split into the running (max, sum, out); o NULL means a value of zero (a sink). */
    void (*merge)(float *max, float *sum, float *out, float m, float s, const float *o, int head_dim);
    void (*softmax)(float *x, int n);
} e0_kernels;

enum { E0_CPU_AVX2, E0_CPU_AVXVNNI, E0_CPU_AVX512, E0_CPU_DOT, E0_CPU_I8MM };
int e0_cpu_has(int wanted);
const e0_kernels *e0_kernels_scalar(void);
const e0_kernels *e0_kernels_avx2(void);
const e0_kernels *e0_kernels_avxvnni(void);
const e0_kernels *e0_kernels_avx512(void);
const e0_kernels *e0_kernels_neon(void);
const e0_kernels *e0_kernels_neon_i8mm(void);
const e0_kernels *e0_pick_kernels(const char *name); /* "auto" or a name; NULL when it cannot run here */

/* ---- platform.c ---- */
typedef struct e0_mutex e0_mutex;
typedef struct e0_cond e0_cond;
typedef struct e0_thread e0_thread;
e0_mutex *e0_mutex_new(void);
void e0_mutex_free(e0_mutex *);
void e0_lock(e0_mutex *);
void e0_unlock(e0_mutex *);
e0_cond *e0_cond_new(void);
void e0_cond_free(e0_cond *);
void e0_wait(e0_cond *, e0_mutex *);
void e0_signal(e0_cond *); /* wakes one */
void e0_signal_all(e0_cond *);
e0_thread *e0_thread_start(void (*fn)(void *), void *arg);
void e0_thread_join(e0_thread *);
void e0_pause(void);
void e0_yield(void);
double e0_now(void); /* seconds, monotonic */
void *e0_pages_alloc(size_t bytes); /* zeroed, page aligned, charged when touched */
void e0_pages_free(void *, size_t bytes);
void e0_pages_discard(void *, size_t bytes); /* give touched pages back; contents become zero */
intptr_t e0_file_open(const char *path, int direct); /* -1 on failure; path is UTF-8 */
void e0_file_close(intptr_t);
int e0_file_read(intptr_t, void *dst, int64_t offset, int64_t bytes); /* 0, or an errno-like code */
int64_t e0_file_size(intptr_t);
const uint8_t *e0_map_open(intptr_t file, int64_t bytes); /* shared, read-only; NULL on failure */
void e0_map_close(const uint8_t *, int64_t bytes);
int e0_map_again(const uint8_t *, intptr_t file, int64_t bytes); /* anew at the same place */
int e0_map_populate(const uint8_t *, int64_t bytes); /* 0, or an errno-like code */
/* n ranges out of our working set; they stay in the page cache. */
void e0_map_release(const uint8_t *const *at, const int64_t *bytes, int n);

/* ---- mapguard.c ---- */
/* Until unguarded, touching what was cut off the mapped file gives zeros and sets *cut. 0 when it can. */
int e0_map_guard(const uint8_t *, int64_t bytes, atomic_bool *cut);
void e0_map_unguard(const uint8_t *);

/* ---- pool.c ---- */
typedef struct e0_pool e0_pool;
typedef void (*e0_item_fn)(void *arg, int item, int thread);
e0_pool *e0_pool_new(int threads);
void e0_pool_free(e0_pool *);
int e0_pool_threads(const e0_pool *);
/* Runs fn for items 0 … n-1 on all threads, the caller's included; returns when all are done. */
void e0_pool_run(e0_pool *, int n, e0_item_fn fn, void *arg);
/* Cuts `units` of work into runs, long ones first: long runs of memory are read fastest, and short ones at the
 * end leave nobody waiting long. Item i is [cut[i], cut[i + 1]); returns their number, at most `units`. */
int e0_pool_cut(const e0_pool *, int units, int32_t *cut);

/* ---- store.c ---- */
typedef struct {
    int32_t layers, experts, slots, lanes, mapped;
    int64_t slot_bytes, unit_bytes; /* the largest record; what the system maps at once (mapped mode) */
} e0_store_options;

typedef struct {
    int64_t hits, misses, bytes_read, evictions;
    int64_t ahead_reads, ahead_used, ahead_wasted;
    double wait_s, read_s;
} e0_store_counters;

/* One use of an expert by one layer of one chunk: key = layer * experts + expert. */
typedef struct {
    int32_t key, tokens, miss;
} e0_use;

typedef struct e0_store e0_store;
/* Opens the record files. NULL with `error` filled when one cannot be opened or memory is short. */
E0_API e0_store *e0_store_new(const e0_store_options *, const char *const *paths, int files, char *error, int error_size);
E0_API void e0_store_free(e0_store *);
E0_API void e0_store_set_record(e0_store *, int key, int file, int64_t offset, int64_t bytes);
/* Reads experts into free slots without counting uses; stops when slots run out. Returns how many. */
E0_API int e0_store_load(e0_store *, const int32_t *keys, int n);
/* The order in which resident experts may be replaced, first to go first. */
E0_API void e0_store_set_victims(e0_store *, const int32_t *keys, int n);
E0_API int e0_store_resident(e0_store *, int32_t *keys, int capacity);
E0_API int e0_store_take_log(e0_store *, e0_use *out, int capacity);
E0_API void e0_store_read_counters(e0_store *, e0_store_counters *);
/* Lowers the number of slots for good; what does not fit any more is dropped. */
E0_API void e0_store_shrink(e0_store *, int slots);
/* The text of the last read error, cleared by reading; 0 when there was none. */
E0_API int e0_store_take_error(e0_store *, char *text, int capacity);

/* Used by exec.c, on the thread that runs the program. A tick is one chunk. */
void e0_store_begin_tick(e0_store *, int tokens);
/* Marks n distinct experts of a layer as in use; ready[i] tells which can be computed now. The others
 * are read as lanes and slots allow and come out of e0_store_next. */
void e0_store_acquire(e0_store *, int layer, const int32_t *experts, const int32_t *tokens, int n, bool *ready);
/* Experts the next layer will probably use, the surest first: those in memory are kept; of the first `sure`,
 * up to `limit` others are read on idle lanes. Returns how many reads were queued. */
int e0_store_predict(e0_store *, int layer, const int32_t *experts, int n, int sure, int limit);
/* Whether guessing helps: not when every record has a slot, nor while the page cache serves at once. */
bool e0_store_predicts(e0_store *);
const uint8_t *e0_store_data(const e0_store *, int layer, int expert);
/* Indices into acquire's list that became ready, at least one unless none is left; -1 on a read error. */
int e0_store_next(e0_store *, int32_t *indices, int capacity);
/* The layer is done with acquire's i-th expert; its slot may serve a miss that waits. */
void e0_store_release(e0_store *, int index);
/* Whether a file was cut short while mapped: what was computed since begin_tick is worthless. */
bool e0_store_was_cut(e0_store *);
/* Waits for reads in flight and forgets acquire's list. Must end every acquire. */
void e0_store_end(e0_store *);

/* ---- exec.c ---- */
enum {
    E0_RMS_NORM, E0_LINEAR, E0_ROTARY, E0_ATTENTION, E0_ADD, E0_GATED, E0_ROUTER, E0_EXPERTS
};

/* Operands are indices of buffers (out, a, b, c), matrices and vectors; -1 is none. See program.py. */
typedef struct {
    int32_t kind, out, a, b, c, weight, vector, layer;
    int32_t heads, kv_heads, head_dim, count, top_k, flags;
    float scale, extra;
} e0_op;

typedef struct {
    double attention_s, expert_s, wait_s, total_s;
} e0_times;

typedef struct e0_exec e0_exec;
E0_API e0_exec *e0_exec_new(int threads, const char *isa); /* NULL when the set cannot run here */
E0_API void e0_exec_free(e0_exec *);
E0_API const char *e0_exec_isa(const e0_exec *);
E0_API int e0_exec_threads(const e0_exec *);
/* Weights stay the caller's memory and must outlive the context. Both return the new index. */
E0_API int e0_exec_add_matrix(e0_exec *, const e0_matrix *);
E0_API int e0_exec_add_vector(e0_exec *, const float *data, int n);
/* A buffer of `rows` tokens; buffers of one row hold the row at hand. -1 when memory is short. */
E0_API int e0_exec_add_buffer(e0_exec *, int width, int rows);
E0_API float *e0_exec_buffer(e0_exec *, int index, int row);
E0_API int e0_exec_set_cache(e0_exec *, int layers, int kv_heads, int head_dim, int positions, int int8);
E0_API void e0_exec_discard_cache(e0_exec *, int from_position);
/* Copies positions [begin, end) of all layers and heads out to `rows`, or in from there: as many bytes
 * as they take in the cache. Any thread, while no program runs. */
E0_API void e0_exec_export_cache(const e0_exec *, int begin, int end, uint8_t *rows);
E0_API void e0_exec_import_cache(e0_exec *, int begin, int end, const uint8_t *rows);
/* The gate, up and down matrices of a layer's records; `offset` is used, `data` is not. */
E0_API void e0_exec_set_record(e0_exec *, int layer, const e0_matrix *gate, const e0_matrix *up, const e0_matrix *down);
E0_API void e0_exec_set_store(e0_exec *, e0_store *);
/* Predict the next layer's experts: -1 not at all, else up to `reads` predicted misses a layer and token. */
E0_API void e0_exec_set_prediction(e0_exec *, int reads);
/* Runs ops over rows [first, first + tokens) of the buffers; the first row is at `position`.
 * 0 done, 1 stopped by *stop, 2 read error (e0_store_take_error), 3 out of memory. */
E0_API int e0_exec_run(e0_exec *, const e0_op *ops, int n_ops, int first, int tokens, int position,
                       const volatile int32_t *stop);
E0_API void e0_exec_take_times(e0_exec *, e0_times *);
/* For tests and measurements: y (tokens, rows padded to 16) = x (tokens, cols) · wᵀ. */
E0_API int e0_exec_matmul(e0_exec *, const e0_matrix *, const float *x, int tokens, float *y);

/* ---- bandwidth.c ---- */
/* Bytes a second that `threads` read from `data`, best of a few passes; 0 for less than a piece of 1 MiB. */
E0_API double e0_read_bandwidth(const uint64_t *data, int64_t bytes, int threads);

#endif
