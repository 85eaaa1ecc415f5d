/* A small model through pool, store and executor: any slots, lanes, threads, cuts, predictions and way of
 * reading give the bits of one thread with everything in memory. Made for race and memory checkers.
 * Arguments: rounds, seed. Writes a file in the working folder. */
#include "e0.h"
#include "random.h"

#if defined(_WIN32)
#define FILE_NAME L"记录 é.moex"
#define open_file(name, mode) _wfopen(name, L##mode)
#define remove_file(name) _wremove(name)
#else
#define FILE_NAME "记录 é.moex"
#define open_file(name, mode) fopen(name, mode)
#define remove_file(name) remove(name)
#endif

enum { LAYERS = 3, EXPERTS = 8, KEYS = LAYERS * EXPERTS, TOP_K = 3, HIDDEN = 64, WIDTH = 96, HEAD = 16, TOKENS = 40 };
enum { X, N, Q, K, V, O, IDS, GATES, Y, BUFFERS };
enum { RECORD = 12288 };

static void fail(const char *what, const char *detail) {
    printf("%s: %s\n", what, detail);
    exit(1);
}

/* ---- weights ---- */
static e0_matrix shaped(int rows, int cols) {
    e0_matrix m = {.format = E0_TABLE4, .rows = rows, .cols = cols};
    m.strip_bytes = (cols / 32 * 288 + 63) / 64 * 64;
    for (int i = 0; i < 16; i++) m.table[i] = (int8_t)(i * 16 - 120);
    return m;
}

static size_t matrix_bytes(const e0_matrix *m) { return (size_t)(m->rows / 16) * (size_t)m->strip_bytes; }

static void fill_matrix(uint8_t *data, const e0_matrix *m) {
    for (int s = 0; s < m->rows / 16; s++, data += m->strip_bytes) {
        for (int i = 0; i < m->cols / 32 * 256; i++) data[i] = (uint8_t)random_bits();
        uint16_t *scales = (uint16_t *)(data + m->cols / 32 * 256);
        for (int i = 0; i < m->cols / 32 * 16; i++) scales[i] = (uint16_t)(0x1000 + random_int(0, 255));
    }
}

static e0_matrix record_part[3]; /* gate, up, down */
static e0_matrix dense[6];       /* q, k, v, o, router, and one to guess with */
static int int8_cache;
static float ones[HIDDEN], frequency[HEAD / 2], embeddings[TOKENS][HIDDEN];

static void make_weights(void) {
    int rows[] = {4 * HEAD, 2 * HEAD, 2 * HEAD, HIDDEN, 16};
    int64_t offset = 0;
    for (int i = 0; i < 5; i++) {
        dense[i] = shaped(rows[i], i == 3 ? 4 * HEAD : HIDDEN);
        uint8_t *data = new_bytes(matrix_bytes(dense + i));
        fill_matrix(data, dense + i);
        dense[i].data = data;
    }
    dense[4].rows = EXPERTS;
    dense[5] = (e0_matrix){.format = E0_F32, .rows = EXPERTS, .cols = HIDDEN, .strip_bytes = 64 * HIDDEN};
    dense[5].data = (uint8_t *)new_floats(16 * HIDDEN);
    for (int i = 0; i < 3; i++) {
        record_part[i] = i < 2 ? shaped(WIDTH, HIDDEN) : shaped(HIDDEN, WIDTH);
        record_part[i].offset = offset, offset += (int64_t)matrix_bytes(record_part + i);
    }
    for (int i = 0; i < HIDDEN; i++) ones[i] = 1;
    for (int i = 0; i < HEAD / 2; i++) frequency[i] = 1.0f / (float)(1 + i);
    for (int t = 0; t < TOKENS; t++)
        for (int i = 0; i < HIDDEN; i++) embeddings[t][i] = random_float();
}

static void write_records(void) {
    FILE *file = open_file(FILE_NAME, "wb");
    if (!file) fail("file", "cannot be written");
    uint8_t *record = calloc(1, RECORD);
    fwrite(record, 1, 4096, file);
    for (int key = 0; key < KEYS; key++) {
        for (int i = 0; i < 3; i++) fill_matrix(record + record_part[i].offset, record_part + i);
        fwrite(record, 1, RECORD, file);
    }
    free(record);
    fclose(file);
}

/* ---- one model ---- */
typedef struct {
    e0_exec *exec;
    e0_store *store;
    e0_op op[16 * (LAYERS + 1)];
    int ops;
} model;

static model open_model(int threads, int slots, int lanes, int mapped, int prediction) {
    static const char *const path = "记录 é.moex";
    static const int width[] = {HIDDEN, HIDDEN, 4 * HEAD, 2 * HEAD, 2 * HEAD, 4 * HEAD, TOP_K, TOP_K, HIDDEN};
    char error[256];
    e0_store_options o = {LAYERS + 1, EXPERTS, slots, lanes, mapped, RECORD, 4096 << random_int(0, 5)};
    model m = {e0_exec_new(threads, "auto"), e0_store_new(&o, &path, 1, error, sizeof error), {{0}}, 0};
    if (!m.exec || !m.store) fail("open", m.exec ? error : "no executor");
    for (int key = 0; key < KEYS + EXPERTS; key++)
        e0_store_set_record(m.store, key, 0, 4096 + (int64_t)key * RECORD, RECORD);
    for (int i = 0; i < BUFFERS; i++) e0_exec_add_buffer(m.exec, width[i], TOKENS);
    for (int i = 0; i < 6; i++) e0_exec_add_matrix(m.exec, dense + i);
    e0_exec_add_vector(m.exec, ones, HIDDEN);
    e0_exec_add_vector(m.exec, frequency, HEAD / 2);
    for (int layer = 0; layer <= LAYERS; layer++)
        e0_exec_set_record(m.exec, layer, record_part, record_part + 1, record_part + 2);
    e0_exec_set_store(m.exec, m.store);
    e0_exec_set_prediction(m.exec, prediction);
    if (e0_exec_set_cache(m.exec, LAYERS, 2, HEAD, TOKENS, int8_cache)) fail("open", "no cache");
    return m;
}

static void close_model(model *m) {
    e0_exec_free(m->exec);
    e0_store_free(m->store);
}

static e0_op *new_op(model *m, int kind, int out, int a, int layer) {
    e0_op *op = m->op + m->ops++;
    *op = (e0_op){.kind = kind, .out = out, .a = a, .b = -1, .c = -1, .weight = -1, .vector = -1, .layer = layer};
    return op;
}

static void add_norm(model *m) {
    e0_op *norm = new_op(m, E0_RMS_NORM, N, X, -1);
    norm->vector = 0, norm->count = HIDDEN, norm->extra = 1e-5f;
}

static void add_experts(model *m, int layer) {
    e0_op *router = new_op(m, E0_ROUTER, IDS, N, -1), *experts = new_op(m, E0_EXPERTS, Y, N, layer);
    router->b = GATES, router->c = 5, router->weight = 4, router->count = EXPERTS, router->top_k = TOP_K;
    router->flags = 1, router->scale = 1;
    experts->b = IDS, experts->c = GATES, experts->count = EXPERTS, experts->top_k = TOP_K;
    new_op(m, E0_ADD, X, X, -1)->b = Y;
}

/* Attention and experts of one layer. */
static void add_layer(model *m, int layer) {
    add_norm(m);
    for (int i = 0; i < 3; i++) new_op(m, E0_LINEAR, Q + i, N, layer)->weight = i;
    e0_op *rotary = new_op(m, E0_ROTARY, Q, -1, -1), *attention = new_op(m, E0_ATTENTION, O, Q, layer);
    rotary->vector = 1, rotary->heads = 4, rotary->head_dim = HEAD, rotary->count = HEAD / 2, rotary->scale = 1;
    attention->b = K, attention->c = V, attention->heads = 4, attention->kv_heads = 2, attention->head_dim = HEAD;
    attention->scale = 0.25f;
    new_op(m, E0_LINEAR, Y, O, layer)->weight = 3;
    new_op(m, E0_ADD, X, X, -1)->b = Y;
    add_norm(m);
    add_experts(m, layer);
}

static void run_chunk(model *m, int begin, int tokens) {
    memcpy(e0_exec_buffer(m->exec, X, 0), embeddings[begin], (size_t)(tokens * HIDDEN) * sizeof(float));
    m->ops = 0;
    for (int layer = 0; layer < LAYERS; layer++) add_layer(m, layer);
    if (e0_exec_run(m->exec, m->op, m->ops, 0, tokens, begin, NULL)) fail("run", "failed");
}

/* Every record of the last layer lies behind the end of the file. */
static void run_failing(model *m) {
    char text[256];
    m->ops = 0;
    for (int layer = LAYERS - 1; layer <= LAYERS; layer++) {
        add_norm(m);
        add_experts(m, layer);
    }
    if (e0_exec_run(m->exec, m->op, m->ops, 0, TOKENS / 2, 0, NULL) != 2) fail("read error", "not noticed");
    e0_store_take_error(m->store, text, sizeof text);
    if (!strstr(text, "layer 3, expert ")) fail("read error", text);
}

static void run_all(model *m, int most, int fails, float out[TOKENS][HIDDEN]) {
    int32_t victims[KEYS];
    e0_use log[2 * KEYS];
    for (int begin = 0, n; begin < TOKENS; begin += n) {
        n = random_int(1, most < TOKENS - begin ? most : TOKENS - begin);
        run_chunk(m, begin, n);
        memcpy(out[begin], e0_exec_buffer(m->exec, X, 0), (size_t)(n * HIDDEN) * sizeof(float));
        if (fails && random_int(0, 3) == 0) run_failing(m);
        e0_store_take_log(m->store, log, 2 * KEYS);
        e0_store_set_victims(m->store, victims, e0_store_resident(m->store, victims, KEYS));
    }
}

/* ---- the pool alone, and a reader of counters as the app's window is one ---- */
static atomic_int touched[1000];
static atomic_bool watching;

static void touch(void *arg, int item, int thread) {
    (void)arg, (void)thread;
    atomic_fetch_add(touched + item, 1);
}

static void test_pool(int jobs) {
    e0_pool *pool = e0_pool_new(random_int(1, 4));
    for (int i = 0; i < jobs; i++) {
        int n = random_int(0, 9) ? random_int(1, 12) : random_int(1, 1000);
        e0_pool_run(pool, n, touch, NULL);
        for (int item = 0; item < n; item++)
            if (atomic_exchange(touched + item, 0) != 1) fail("pool", "an item ran twice or never");
        for (double until = e0_now() + (i % 50 ? 0 : 0.002); e0_now() < until;) e0_yield(); /* workers fall asleep */
    }
    e0_pool_free(pool);
}

static void watch(void *store) {
    e0_store_counters count;
    while (atomic_load(&watching)) {
        e0_store_read_counters(store, &count);
        e0_yield();
    }
}

int main(int argc, char **argv) {
    static float expected[TOKENS][HIDDEN], found[TOKENS][HIDDEN];
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    random_state = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    int8_cache = (int)(random_state % 2);
    make_weights();
    write_records();
    model whole = open_model(1, KEYS, 1, 0, -1);
    run_all(&whole, TOKENS, 0, expected);
    close_model(&whole);
    for (int i = 0; i < rounds; i++) {
        int slots = random_int(1, KEYS), mapped = random_int(0, 1);
        model m = open_model(random_int(1, 4), slots, random_int(1, 5), mapped, random_int(-1, 3));
        atomic_store(&watching, true);
        e0_thread *watcher = e0_thread_start(watch, m.store);
        int32_t keys[] = {3, 9, 1, 22};
        e0_store_load(m.store, keys, random_int(0, 4));
        for (int pass = 0; pass < 2; pass++) {
            run_all(&m, pass ? 3 : TOKENS, !mapped, found);
            if (memcmp(expected, found, sizeof found)) fail("model", "other bits than in memory");
            e0_store_shrink(m.store, random_int(1, slots));
        }
        atomic_store(&watching, false);
        e0_thread_join(watcher);
        close_model(&m);
        test_pool(200);
    }
    for (int i = 0; i < 6; i++) free((void *)(uintptr_t)dense[i].data);
    remove_file(FILE_NAME);
    printf("store ok\n");
    return 0;
}
