/* Bringing records in by lanes, threads that read. (io_uring was tried: no faster in decode, 15 % slower in
 * prefill, where nobody feeds the ring while a layer computes.)
 *
 * Demand goes before prediction: what is read ahead waits in its own queue and leaves one lane free.
 * Mapped records are touched: by a lane, or at once on the caller's thread while the page cache serves. */
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WARM_AFTER = 16 }; /* quick reads in a row after which mapped records are touched without a lane */
static const double WARM_SECONDS = 60e-6; /* per 2 MiB; a drive cannot be that fast */

static uint8_t *slot_at(const e0_store *s, int slot) { return s->slab + (size_t)slot * (size_t)s->o.slot_bytes; }

static int read_record(e0_store *s, const e0_job *j) {
    const e0_range *at = &s->rec[j->key].at;
    if (!s->window)
        return e0_file_read(s->file[at->file], slot_at(s, j->slot), at->offset, at->bytes);
    for (int i = 0; i < j->dropped_n; i++) e0_window_release(s->window, &s->rec[j->dropped[i]].at, s->mutex);
    return e0_window_populate(s->window, at, s->mutex);
}

/* Mapped mode: keeps count of reads that found their pages in the page cache. Mutex held. */
static void note_speed(e0_store *s, const e0_job *j, double seconds) {
    double quick = WARM_SECONDS * (double)(s->rec[j->key].at.bytes + (2 << 20)) / (2 << 20);
    s->quick_reads = seconds > quick || j->error ? 0 : s->quick_reads + 1;
    s->count.read_s += seconds;
}

bool e0_read_is_warm(const e0_store *s) { return s->window && s->quick_reads >= WARM_AFTER; }

static void push(e0_store *s, e0_job_queue *q, e0_job j) { q->jobs[(q->head + q->n++) % s->allocated] = j; }

static e0_job pop(e0_store *s, e0_job_queue *q) {
    e0_job j = q->jobs[q->head];
    q->head = (q->head + 1) % s->allocated;
    q->n--;
    return j;
}

/* One lane stays free for demand, unless there is only one. With one token at a time a read that is waited
 * for gets the drive to itself. */
static bool may_read_ahead(const e0_store *s) {
    if (!s->ahead.n || (s->chunk_tokens == 1 && s->demand_running)) return false;
    return s->lanes < 2 || s->ahead_running < s->lanes - 1;
}

static bool has_work(const e0_store *s) { return s->demand.n || may_read_ahead(s); }

/* ---- lanes ---- */
void e0_lane_main(void *arg) {
    e0_store *s = arg;
    e0_lock(s->mutex);
    while (true) {
        while (!has_work(s) && !s->quit) e0_wait(s->work, s->mutex);
        if (s->quit) break;
        e0_job j = pop(s, s->demand.n ? &s->demand : &s->ahead);
        s->ahead_running += j.ahead, s->demand_running += !j.ahead;
        if (has_work(s)) e0_signal(s->work); /* each lane wakes the next: all at once would push the computing aside */
        e0_unlock(s->mutex);
        double start = e0_now();
        j.error = read_record(s, &j);
        double seconds = e0_now() - start;
        e0_lock(s->mutex);
        s->ahead_running -= j.ahead, s->demand_running -= !j.ahead;
        note_speed(s, &j, seconds);
        s->done[s->done_n++] = j;
        e0_signal_all(s->arrived);
    }
    e0_unlock(s->mutex);
}

/* ---- asking for records ---- */
/* Touches a mapped record on this thread: in a warm page cache that takes less than waking a lane. */
static void touch(e0_store *s, e0_job *j) {
    e0_unlock(s->mutex);
    double start = e0_now();
    j->error = read_record(s, j);
    double seconds = e0_now() - start;
    e0_lock(s->mutex);
    note_speed(s, j, seconds);
    s->done[s->done_n++] = *j;
}

bool e0_read_submit(e0_store *s, int key, bool ahead) {
    e0_job j = {.key = key, .ahead = ahead};
    if (s->window && !e0_slot_make_room(s, ahead, &j)) {
        e0_slot_unmap(s, &j);
        return false;
    }
    if ((j.slot = e0_slot_take(s, ahead)) < 0) return false;
    e0_record *r = s->rec + key;
    r->slot = j.slot;
    r->state = READING;
    r->ahead = ahead;
    s->owner[j.slot] = key;
    s->in_flight++;
    if (!ahead && e0_read_is_warm(s)) {
        touch(s, &j);
        return true;
    }
    push(s, ahead ? &s->ahead : &s->demand, j);
    e0_signal(s->work);
    return true;
}

/* A predicted record is needed now: its job moves to the demand queue, unless a lane has it already. */
void e0_read_promote(e0_store *s, int key) {
    for (int i = 0, n = s->ahead.n; i < n; i++) {
        e0_job j = pop(s, &s->ahead);
        if (j.key == key) {
            j.ahead = false;
            push(s, &s->demand, j);
        } else {
            push(s, &s->ahead, j);
        }
    }
    e0_signal(s->work);
}

static void note_failure(e0_store *s, const e0_job *j) {
    const char *reason = j->error == EOVERFLOW ? "the file is too short" : strerror(j->error);
    snprintf(s->error, sizeof s->error, "layer %d, expert %d: %s", j->key / s->o.experts, j->key % s->o.experts, reason);
    s->failed |= s->rec[j->key].wanted > 0; /* a prediction's failure shows when it is needed */
    if (s->window) e0_window_drop(s->window, &s->rec[j->key].at);
    s->owner[j->slot] = -1;
    s->free_slots[s->free_count++] = j->slot;
    s->rec[j->key].state = ABSENT;
    s->rec[j->key].slot = -1;
    s->rec[j->key].ahead = false;
}

/* ---- taking them ---- */
int e0_read_collect(e0_store *s, int32_t *indices, int capacity) {
    int n = 0, kept = 0;
    for (int i = 0; i < s->done_n; i++) {
        e0_job j = s->done[i];
        e0_record *r = s->rec + j.key;
        if (r->wanted && n == capacity) {
            s->done[kept++] = j;
            continue;
        }
        s->in_flight--;
        if (j.error) {
            note_failure(s, &j);
            continue;
        }
        r->state = READY;
        s->count.bytes_read += r->at.bytes;
        if (r->wanted) {
            indices[n++] = r->wanted - 1;
            s->waiting--;
        }
    }
    s->done_n = kept;
    return n;
}

void e0_read_settle(e0_store *s) {
    e0_read_collect(s, NULL, 0);
    while (s->in_flight) {
        if (!s->done_n) e0_wait(s->arrived, s->mutex);
        e0_read_collect(s, NULL, 0);
    }
}
