/* Compute threads. Each job is a number of items that all threads draw from, the caller's included.
 *
 * A job ends when its items are done, not when every thread has looked in: one that sleeps, or whose core
 * the system gave to somebody else, holds nobody up between items. `ticket` holds the job's number and
 * how many items are undrawn; a draw succeeds only on the ticket it has seen, so a late thread can never
 * take an item of one job with the function of another.
 * Idle threads spin for a moment (the next job of a token is that near), then sleep. */
#include "e0.h"

#include <stdlib.h>

static const double SPIN_SECONDS = 100e-6;
enum { SPINS_PER_LOOK = 32 }; /* at the clock */
enum { SHARES = 2 };          /* a run is half of the thread's share of what is left */

struct e0_pool {
    int threads;
    e0_thread **workers;
    e0_mutex *mutex;
    e0_cond *cond;
    _Atomic(e0_item_fn) fn;
    _Atomic(void *) arg;
    atomic_int items;
    _Alignas(64) _Atomic uint64_t ticket; /* number of the job << 32 | items undrawn */
    _Alignas(64) atomic_int undone;
    _Alignas(64) atomic_int sleepers;
    atomic_bool quit;
};

typedef struct { e0_pool *pool; int index; } worker_arg;

static bool has_items(e0_pool *p) { return (uint32_t)atomic_load(&p->ticket) > 0; }

/* Draws until nothing is left of the job; returns how many items it ran. */
static int draw(e0_pool *p, int thread) {
    int ran = 0;
    uint64_t ticket = atomic_load_explicit(&p->ticket, memory_order_acquire);
    while ((uint32_t)ticket) {
        /* These belong to the ticket's job if the exchange succeeds: they change only when it is drained. */
        e0_item_fn fn = atomic_load_explicit(&p->fn, memory_order_relaxed);
        void *arg = atomic_load_explicit(&p->arg, memory_order_relaxed);
        int item = atomic_load_explicit(&p->items, memory_order_relaxed) - (int)(uint32_t)ticket;
        if (!atomic_compare_exchange_weak_explicit(&p->ticket, &ticket, ticket - 1, memory_order_acq_rel, memory_order_acquire))
            continue;
        fn(arg, item, thread);
        ran++;
        ticket = atomic_load_explicit(&p->ticket, memory_order_acquire);
    }
    return ran;
}

/* True when `ready` came true before the time to spin was over. */
static bool spin_until(e0_pool *p, bool (*ready)(e0_pool *)) {
    double end = e0_now() + SPIN_SECONDS;
    do {
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (ready(p)) return true;
            e0_pause();
        }
    } while (e0_now() < end);
    return false;
}

static bool wanted(e0_pool *p) { return has_items(p) || atomic_load(&p->quit); }
static bool is_done(e0_pool *p) { return atomic_load_explicit(&p->undone, memory_order_acquire) == 0; }

static void wait_for_job(e0_pool *p) {
    if (spin_until(p, wanted)) return;
    e0_lock(p->mutex);
    atomic_fetch_add(&p->sleepers, 1);
    while (!wanted(p)) e0_wait(p->cond, p->mutex);
    atomic_fetch_sub(&p->sleepers, 1);
    e0_unlock(p->mutex);
}

static void worker_main(void *arg) {
    worker_arg a = *(worker_arg *)arg;
    free(arg);
    while (true) {
        wait_for_job(a.pool);
        if (atomic_load(&a.pool->quit)) return;
        int ran = draw(a.pool, a.index);
        if (ran) atomic_fetch_sub_explicit(&a.pool->undone, ran, memory_order_release);
    }
}

static void wake(e0_pool *p) {
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
    atomic_store_explicit(&p->fn, fn, memory_order_relaxed);
    atomic_store_explicit(&p->arg, arg, memory_order_relaxed);
    atomic_store_explicit(&p->items, n, memory_order_relaxed);
    atomic_store_explicit(&p->undone, n, memory_order_relaxed);
    uint64_t job = (atomic_load_explicit(&p->ticket, memory_order_relaxed) >> 32) + 1;
    atomic_store(&p->ticket, job << 32 | (uint32_t)n);
    wake(p);
    atomic_fetch_sub_explicit(&p->undone, draw(p, 0), memory_order_acq_rel);
    while (!spin_until(p, is_done)) e0_yield();
}

int e0_pool_cut(const e0_pool *p, int units, int32_t *cut) {
    int n = 0;
    for (cut[0] = 0; cut[n] < units; n++) {
        int run = (units - cut[n]) / (SHARES * p->threads);
        cut[n + 1] = cut[n] + (run > 1 ? run : 1);
    }
    return n;
}

int e0_pool_threads(const e0_pool *p) { return p->threads; }

e0_pool *e0_pool_new(int threads) {
    e0_pool *p = e0_pages_alloc(sizeof *p); /* aligned, zeroed */
    if (!p) return NULL;
    p->threads = 1;
    p->mutex = e0_mutex_new(), p->cond = e0_cond_new();
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
    wake(p);
    for (int i = 0; i < p->threads - 1; i++) e0_thread_join(p->workers[i]);
    free(p->workers);
    e0_cond_free(p->cond);
    e0_mutex_free(p->mutex);
    e0_pages_free(p, sizeof *p);
}
