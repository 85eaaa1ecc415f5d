/* How fast the compute threads read memory: the most that decoding a token can reach. */
#include "e0.h"

enum { PIECE_WORDS = 1 << 17, PASSES = 5, STREAMS = 8, AHEAD_WORDS = 512 }; /* a piece is 1 MiB */

typedef struct {
    const uint64_t *data;
    _Atomic uint64_t sum; /* used, so that the reads cannot be left out */
} measured;

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

double e0_read_bandwidth(const uint64_t *data, int64_t bytes, int threads) {
    int64_t pieces = bytes / (PIECE_WORDS * (int64_t)sizeof *data);
    measured m = {.data = data};
    e0_pool *pool = pieces > 0 && pieces <= INT32_MAX ? e0_pool_new(threads) : NULL;
    double best = 0;
    for (int pass = 0; pool && pass < PASSES; pass++) {
        double start = e0_now();
        e0_pool_run(pool, (int)pieces, read_piece, &m);
        double rate = (double)pieces * PIECE_WORDS * sizeof *data / (e0_now() - start);
        if (rate > best) best = rate;
    }
    e0_pool_free(pool);
    return best;
}
