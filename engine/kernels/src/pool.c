/* Compute threads. Each job is a counter of items that all threads draw from, the caller's included.
 * Idle threads spin for a few microseconds (the next job of a token is that near), then sleep. */
#include "e0.h"

#include <stdlib.h>

enum { SPINS = 4000 };

struct e0_pool {
    int threads;
    e0_thread **workers;
    e0_mutex *mutex;
    e0_cond *cond;
    e0_item_fn fn;
    void *arg;
    int items;
    _Alignas(64) atomic_int next;
    _Alignas(64) atomic_int running; /* workers still inside the job */
    _Alignas(64) atomic_uint epoch;  /* raised once per job */
    atomic_int sleepers;
    atomic_bool quit;
};

typedef struct { e0_pool *pool; int index; } worker_arg;

static void draw(e0_pool *p, int thread) {
    for (;;) {
        int item = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (item >= p->items) return;
        p->fn(p->arg, item, thread);
    }
}

static void wait_for_job(e0_pool *p, unsigned seen) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&p->epoch, memory_order_acquire) != seen) return;
        e0_pause();
    }
    e0_lock(p->mutex);
    atomic_fetch_add(&p->sleepers, 1);
    while (atomic_load(&p->epoch) == seen) e0_wait(p->cond, p->mutex);
    atomic_fetch_sub(&p->sleepers, 1);
    e0_unlock(p->mutex);
}

static void worker_main(void *arg) {
    worker_arg a = *(worker_arg *)arg;
    free(arg);
    unsigned seen = 0;
    for (;;) {
        wait_for_job(a.pool, seen);
        seen++;
        if (atomic_load(&a.pool->quit)) return;
        draw(a.pool, a.index);
        atomic_fetch_sub_explicit(&a.pool->running, 1, memory_order_release);
    }
}

static void start_epoch(e0_pool *p) {
    atomic_fetch_add_explicit(&p->epoch, 1, memory_order_seq_cst);
    if (atomic_load(&p->sleepers) == 0) return;
    e0_lock(p->mutex);
    e0_signal_all(p->cond);
    e0_unlock(p->mutex);
}

void e0_pool_run(e0_pool *p, int n, e0_item_fn fn, void *arg) {
    if (p->threads == 1 || n <= 1) {
        for (int i = 0; i < n; i++) fn(arg, i, 0);
        return;
    }
    p->fn = fn;
    p->arg = arg;
    p->items = n;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    atomic_store_explicit(&p->running, p->threads - 1, memory_order_relaxed);
    start_epoch(p);
    draw(p, 0);
    for (int spins = 0; atomic_load_explicit(&p->running, memory_order_acquire) > 0; spins++)
        spins < SPINS ? e0_pause() : e0_yield();
}

int e0_pool_threads(const e0_pool *p) { return p->threads; }

e0_pool *e0_pool_new(int threads) {
    e0_pool *p = e0_pages_alloc(sizeof *p);
    if (!p) return NULL;
    *p = (e0_pool){.threads = 1, .mutex = e0_mutex_new(), .cond = e0_cond_new()};
    p->workers = calloc((size_t)(threads > 1 ? threads - 1 : 1), sizeof *p->workers);
    for (int i = 1; i < threads; i++) {
        worker_arg *a = malloc(sizeof *a);
        *a = (worker_arg){p, i};
        if (!(p->workers[i - 1] = e0_thread_start(worker_main, a))) {
            free(a);
            break;
        }
        p->threads++;
    }
    return p;
}

void e0_pool_free(e0_pool *p) {
    if (!p) return;
    atomic_store(&p->quit, true);
    start_epoch(p);
    for (int i = 0; i < p->threads - 1; i++) e0_thread_join(p->workers[i]);
    free(p->workers);
    e0_cond_free(p->cond);
    e0_mutex_free(p->mutex);
    e0_pages_free(p, sizeof *p);
}
