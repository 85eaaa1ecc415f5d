/* How fast the compute threads read memory: the most that decoding a token can reach. */
#include "e0.h"

#include <string.h>

enum { PIECE_WORDS = 1 << 17, PASSES = 5, STREAMS = 8, AHEAD_WORDS = 512 }; /* a piece is 1 MiB */

typedef struct {
    uint64_t *data;
    _Atomic uint64_t sum; /* used, so that the reads cannot be left out */
} measured;

static void fill_piece(void *arg, int item, int thread) {
    measured *m = arg;
    (void)thread;
    memset(m->data + (size_t)item * PIECE_WORDS, item % 255 + 1, PIECE_WORDS * sizeof(uint64_t));
}

static void read_piece(void *arg, int item, int thread) {
    measured *m = arg;
    (void)thread;
    const uint64_t *p = m->data + (size_t)item * PIECE_WORDS;
    uint64_t sums[STREAMS][8] = {{0}};
    for (int i = 0; i < PIECE_WORDS / STREAMS; i += 8)
        for (int s = 0; s < STREAMS; s++) {
            const uint64_t *at = p + s * (PIECE_WORDS / STREAMS) + i;
            __builtin_prefetch(at + AHEAD_WORDS);
            for (int k = 0; k < 8; k++) sums[s][k] += at[k];
        }
    for (int s = 0; s < STREAMS; s++)
        for (int k = 0; k < 8; k++) sums[0][0] += s || k ? sums[s][k] : 0;
    atomic_fetch_add_explicit(&m->sum, sums[0][0], memory_order_relaxed);
}

double e0_read_bandwidth(int threads, int64_t bytes) {
    int64_t pieces = bytes / (PIECE_WORDS * (int64_t)sizeof(uint64_t));
    if (pieces < 1 || pieces > INT32_MAX) return 0;
    size_t size = (size_t)pieces * PIECE_WORDS * sizeof(uint64_t);
    measured m = {.data = e0_pages_alloc(size)};
    e0_pool *pool = m.data ? e0_pool_new(threads) : NULL;
    double best = 0;
    if (pool) e0_pool_run(pool, (int)pieces, fill_piece, &m);
    for (int pass = 0; pool && pass < PASSES; pass++) {
        double start = e0_now();
        e0_pool_run(pool, (int)pieces, read_piece, &m);
        double seconds = e0_now() - start;
        if (seconds > 0 && (double)size / seconds > best) best = (double)size / seconds;
    }
    e0_pool_free(pool);
    e0_pages_free(m.data, size);
    return best;
}
