/* The expert table, its slots and the read lanes.
 *
 * A slot is room for one record: a piece of the slab in direct mode. In mapped mode the map itself is the
 * data, every record has a slot, and window.c counts what they add to the working set. Python decides the order of victims between chunks; within a chunk
 * this file takes slots in that order and never one that the layer at hand uses. A long chunk streams:
 * beyond a layer's fair share, what it used least is the first to be replaced ("spent").
 * Demand goes before prediction: what is read ahead waits in its own queue and leaves one lane free.
 * All state is guarded by `mutex`; lanes hold it only to take and to return a job. */
#include "window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ABSENT, READING, READY } record_state;

enum { MAX_DROPPED = 8 };
enum { WARM_AFTER = 16 }; /* quick reads in a row after which mapped records are touched without a lane */
static const double WARM_SECONDS = 60e-6; /* per 2 MiB; a drive cannot be that fast */
enum { STREAM_TOKENS = 16 }; /* a chunk this long touches so much of a layer that it streams */

typedef struct {
    e0_range at;
    int32_t slot, tick, wanted; /* wanted: 1 + index in the layer's list, 0 none */
    int32_t guess;                    /* the tick that predicted it last */
    int32_t uses;                     /* tokens of this chunk that used it */
    int16_t state;
    bool pinned, ahead; /* ahead: read on a prediction and not used yet */
} record;

typedef struct {
    int32_t key, slot;
    int32_t dropped[MAX_DROPPED]; /* mapped mode: records whose units leave the map first */
    int dropped_n, error;
    bool ahead;
} job;

typedef struct {
    job *jobs; /* a ring of `slots` */
    int head, n;
} job_queue;

struct e0_store {
    e0_store_options o;
    int files, keys, allocated, free_count, tick, layer, list_n, waiting, next_pending, in_flight, victims, next_victim, hand;
    int quick_reads, spent_n, next_spent, ahead_running, chunk_tokens, capacity, max_units;
    intptr_t *file;
    const uint8_t **map;
    int64_t *file_bytes;
    uint8_t *slab;
    e0_window *window; /* mapped mode */
    record *rec;
    int32_t *owner, *free_slots, *victim, *list, *pending, *spent;
    int pending_n;
    job_queue demand, ahead;
    job *done;
    int done_n;
    int64_t *order;
    int32_t *arrived_now;
    e0_use *log;
    int log_n;
    e0_store_counters count;
    char error[256];
    bool failed, quit;
    e0_thread **lane;
    int lanes;
    e0_mutex *mutex;
    e0_cond *work, *arrived;
};

/* ---- lanes ---- */
static int read_record(e0_store *s, const job *j) {
    const e0_range *at = &s->rec[j->key].at;
    if (!s->window)
        return e0_file_read(s->file[at->file], s->slab + (size_t)j->slot * (size_t)s->o.slot_bytes, at->offset, at->bytes);
    for (int i = 0; i < j->dropped_n; i++) e0_window_release(s->window, &s->rec[j->dropped[i]].at, s->mutex);
    return e0_window_populate(s->window, at, s->mutex);
}

/* Mapped mode: keeps count of reads that found their pages in the page cache. Mutex held. */
static void note_speed(e0_store *s, const job *j, double seconds) {
    double quick = WARM_SECONDS * (double)(s->rec[j->key].at.bytes + (2 << 20)) / (2 << 20);
    s->quick_reads = seconds > quick || j->error ? 0 : s->quick_reads + 1;
    s->count.read_s += seconds;
}

static bool is_warm(const e0_store *s) { return s->window && s->quick_reads >= WARM_AFTER; }

static void push(e0_store *s, job_queue *q, job j) { q->jobs[(q->head + q->n++) % s->allocated] = j; }

static job pop(e0_store *s, job_queue *q) {
    job j = q->jobs[q->head];
    q->head = (q->head + 1) % s->allocated;
    q->n--;
    return j;
}

/* One lane stays free for demand, unless there is only one. */
static bool may_read_ahead(const e0_store *s) {
    return s->ahead.n && (s->lanes < 2 || s->ahead_running < s->lanes - 1);
}

static void lane_main(void *arg) {
    e0_store *s = arg;
    e0_lock(s->mutex);
    while (true) {
        while (!s->demand.n && !may_read_ahead(s) && !s->quit) e0_wait(s->work, s->mutex);
        if (s->quit) break;
        job j = pop(s, s->demand.n ? &s->demand : &s->ahead);
        s->ahead_running += j.ahead;
        e0_unlock(s->mutex);
        double start = e0_now();
        j.error = read_record(s, &j);
        double seconds = e0_now() - start;
        e0_lock(s->mutex);
        s->ahead_running -= j.ahead;
        note_speed(s, &j, seconds);
        s->done[s->done_n++] = j;
        e0_signal_all(s->arrived);
        if (j.ahead) e0_signal_all(s->work);
    }
    e0_unlock(s->mutex);
}

/* ---- slots ---- */
static void drop(e0_store *s, int key) {
    record *r = s->rec + key;
    if (s->window) {
        e0_window_drop(s->window, &r->at);
        s->free_slots[s->free_count++] = r->slot;
    }
    s->owner[r->slot] = -1;
    r->slot = -1;
    r->state = ABSENT;
    s->count.evictions++;
    s->count.ahead_wasted += r->ahead;
    r->ahead = false;
}

static bool may_drop(const e0_store *s, int key, bool this_tick) {
    const record *r = s->rec + key;
    return r->state == READY && !r->pinned && (this_tick || r->tick != s->tick);
}

/* A victim when Python's order is used up: first one no layer of this chunk has used, then any unpinned. */
static int scan_victim(e0_store *s) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->o.slots; i++) {
            s->hand = (s->hand + 1) % s->o.slots;
            int key = s->owner[s->hand];
            if (key >= 0 && may_drop(s, key, pass)) return key;
        }
    return -1;
}

static int next_victim(e0_store *s) {
    while (s->next_spent < s->spent_n) {
        int key = s->spent[s->next_spent++];
        if (may_drop(s, key, true)) return key;
    }
    while (s->next_victim < s->victims) {
        int key = s->victim[s->next_victim++];
        if (may_drop(s, key, false)) return key;
    }
    return -1;
}

static int drop_next(e0_store *s, bool ahead) {
    int key = next_victim(s);
    if (key < 0 && !ahead) key = scan_victim(s); /* a prediction takes only what is spent or chosen */
    if (key >= 0) drop(s, key);
    return key;
}

/* What was dropped for a read that is not made leaves the map here. Mutex held. */
static void unmap(e0_store *s, const job *j) {
    e0_unlock(s->mutex);
    for (int i = 0; i < j->dropped_n; i++) e0_window_release(s->window, &s->rec[j->dropped[i]].at, s->mutex);
    e0_lock(s->mutex);
}

/* Mapped mode: drops records until the new one's units fit the window. */
static bool make_room(e0_store *s, bool ahead, job *j) {
    const e0_range *at = &s->rec[j->key].at;
    while (e0_window_held(s->window) + e0_window_cost(s->window, at) > s->max_units) {
        if (j->dropped_n == MAX_DROPPED) {
            unmap(s, j);
            j->dropped_n = 0;
        }
        int key = drop_next(s, ahead);
        if (key < 0) return false;
        j->dropped[j->dropped_n++] = key;
    }
    e0_window_hold(s->window, at);
    return true;
}

static int take_slot(e0_store *s, bool ahead) {
    if (s->free_count) return s->free_slots[--s->free_count];
    int slot = -1, key = next_victim(s);
    if (key < 0 && !ahead) key = scan_victim(s);
    if (key < 0) return -1;
    slot = s->rec[key].slot;
    drop(s, key);
    return slot;
}

/* Touches a mapped record on this thread: in a warm page cache that takes less than waking a lane. */
static void touch(e0_store *s, job *j) {
    e0_unlock(s->mutex);
    double start = e0_now();
    j->error = read_record(s, j);
    double seconds = e0_now() - start;
    e0_lock(s->mutex);
    note_speed(s, j, seconds);
    s->done[s->done_n++] = *j;
}

static bool submit(e0_store *s, int key, bool ahead) {
    job j = {.key = key, .ahead = ahead};
    if (s->window && !make_room(s, ahead, &j)) {
        unmap(s, &j);
        return false;
    }
    if ((j.slot = take_slot(s, ahead)) < 0) return false;
    record *r = s->rec + key;
    r->slot = j.slot;
    r->state = READING;
    r->ahead = ahead;
    s->owner[j.slot] = key;
    s->in_flight++;
    if (!ahead && is_warm(s)) {
        touch(s, &j);
        return true;
    }
    push(s, ahead ? &s->ahead : &s->demand, j);
    e0_signal_all(s->work);
    return true;
}

/* A predicted record is needed now: its job moves to the demand queue, unless a lane has it already. */
static void promote(e0_store *s, int key) {
    for (int i = 0, n = s->ahead.n; i < n; i++) {
        job j = pop(s, &s->ahead);
        if (j.key == key) {
            j.ahead = false;
            push(s, &s->demand, j);
            e0_signal_all(s->work);
        } else {
            push(s, &s->ahead, j);
        }
    }
}

static void note_failure(e0_store *s, const job *j) {
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

/* Takes finished reads off the lanes; fills `indices` with those of the layer's list. Mutex held. */
static int collect(e0_store *s, int32_t *indices, int capacity) {
    int n = 0, kept = 0;
    for (int i = 0; i < s->done_n; i++) {
        job j = s->done[i];
        record *r = s->rec + j.key;
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

/* Waits until no read is in flight. Nothing may be wanted; mutex held. */
static void settle(e0_store *s) {
    collect(s, NULL, 0);
    while (s->in_flight) {
        e0_wait(s->arrived, s->mutex);
        collect(s, NULL, 0);
    }
}

static void pump(e0_store *s) {
    while (s->next_pending < s->pending_n && submit(s, s->pending[s->next_pending], false)) s->next_pending++;
}

/* ---- used by exec.c ---- */
void e0_store_begin_tick(e0_store *s, int tokens) {
    s->tick++;
    s->chunk_tokens = tokens;
    s->spent_n = s->next_spent = 0;
}

static void log_use(e0_store *s, int key, int tokens, bool miss) {
    if (s->log_n < 2 * s->keys) s->log[s->log_n++] = (e0_use){key, tokens, miss};
    if (miss) s->count.misses++;
    else s->count.hits++;
}

void e0_store_acquire(e0_store *s, int layer, const int32_t *experts, const int32_t *tokens, int n, bool *ready) {
    e0_lock(s->mutex);
    s->layer = layer, s->list_n = n, s->waiting = 0, s->pending_n = s->next_pending = 0;
    collect(s, NULL, 0);
    for (int i = 0; i < n; i++) {
        int key = layer * s->o.experts + experts[i];
        record *r = s->rec + key;
        s->list[i] = key;
        r->uses = tokens[i];
        r->tick = s->tick;
        r->pinned = true;
        ready[i] = r->state == READY;
        log_use(s, key, tokens[i], !ready[i]);
        s->count.ahead_used += r->ahead;
        s->count.recalled += r->guess == s->tick;
        if (!ready[i]) {
            r->wanted = i + 1;
            s->waiting++;
            if (r->state == ABSENT) s->pending[s->pending_n++] = key;
            else if (r->ahead) promote(s, key);
        }
        r->ahead = false;
    }
    pump(s);
    if (is_warm(s)) {
        int n_ready = collect(s, s->arrived_now, n);
        for (int i = 0; i < n_ready; i++) ready[s->arrived_now[i]] = true;
    }
    e0_unlock(s->mutex);
}

bool e0_store_predicts(e0_store *s) {
    e0_lock(s->mutex);
    bool useful = s->capacity < s->keys && !is_warm(s);
    e0_unlock(s->mutex);
    return useful;
}

int e0_store_predict(e0_store *s, int layer, const int32_t *experts, int n, int limit) {
    e0_lock(s->mutex);
    int reads = 0;
    for (int i = 0; i < n; i++) {
        record *r = s->rec + layer * s->o.experts + experts[i];
        r->tick = r->guess = s->tick; /* kept: no victim of this chunk */
        s->count.predicted++;
        if (r->state == ABSENT && reads < limit && submit(s, layer * s->o.experts + experts[i], true)) reads++;
    }
    s->count.ahead_reads += reads;
    e0_unlock(s->mutex);
    return reads;
}

const uint8_t *e0_store_data(const e0_store *s, int layer, int expert) {
    const record *r = s->rec + layer * s->o.experts + expert;
    return s->window ? s->map[r->at.file] + r->at.offset : s->slab + (size_t)r->slot * (size_t)s->o.slot_bytes;
}

int e0_store_next(e0_store *s, int32_t *indices, int capacity) {
    double start = e0_now();
    e0_lock(s->mutex);
    int n = 0;
    while (s->waiting > 0 && !s->failed) {
        if ((n = collect(s, indices, capacity)) || s->failed) break;
        pump(s);
        if (s->done_n) continue; /* touched here, or back from a lane that had to wait for the mutex */
        if (!s->in_flight) { /* no slot can be had: every one is pinned, which the planner rules out */
            snprintf(s->error, sizeof s->error, "layer %d needs more expert slots than the budget gives", s->layer);
            s->failed = true;
            break;
        }
        e0_wait(s->arrived, s->mutex);
    }
    bool failed = s->failed;
    s->count.wait_s += e0_now() - start;
    e0_unlock(s->mutex);
    return failed ? -1 : n;
}

void e0_store_release(e0_store *s, int index) {
    e0_lock(s->mutex);
    s->rec[s->list[index]].pinned = false;
    pump(s);
    e0_unlock(s->mutex);
}

static int by_uses(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* After a layer of a long chunk: its records beyond a fair share, least used first, may go. */
static void spend(e0_store *s) {
    int share = s->capacity / s->o.layers, n = 0;
    int64_t *order = s->order; /* uses in the high half, key in the low one */
    for (int e = 0; e < s->o.experts; e++) {
        int key = s->layer * s->o.experts + e;
        const record *r = s->rec + key;
        if (r->state == READY) order[n++] = (int64_t)(r->tick == s->tick ? r->uses : 0) << 32 | key;
    }
    if (n <= share) return;
    qsort(order, (size_t)n, sizeof *order, by_uses);
    for (int i = 0; i < n - share; i++) s->spent[s->spent_n++] = (int32_t)(order[i] & 0xffffffff);
}

void e0_store_end(e0_store *s) {
    e0_lock(s->mutex);
    for (int i = 0; i < s->list_n; i++) {
        s->rec[s->list[i]].wanted = 0;
        s->rec[s->list[i]].pinned = false;
    }
    s->pending_n = s->next_pending = s->waiting = 0;
    if (s->failed) settle(s); /* others of the layer may be in flight still; their errors are this chunk's */
    if (s->chunk_tokens >= STREAM_TOKENS && s->list_n && s->capacity < s->keys) spend(s);
    s->list_n = 0;
    s->failed = false;
    e0_unlock(s->mutex);
}

/* ---- called from Python, never while a program runs ---- */
/* The records the budget has room for; in mapped mode the same bytes in units. */
static void set_capacity(e0_store *s, int slots) {
    s->capacity = slots;
    if (!s->window) return;
    int64_t units = (int64_t)slots * s->o.slot_bytes / s->o.unit_bytes;
    int total = e0_window_total(s->window), most = (int)(units < total ? units : total);
    int waiting = most / 32 < E0_STALE_UNITS ? most / 32 : E0_STALE_UNITS; /* released, not gone yet */
    int least = (int)((s->o.unit_bytes + s->o.slot_bytes - 4097) / s->o.unit_bytes) + 1; /* a record across borders */
    e0_window_let_wait(s->window, waiting);
    s->max_units = slots >= s->keys ? total : most - waiting > least ? most - waiting : least;
}

/* Whether a record can come in without another going. Mutex held. */
static bool has_room(const e0_store *s, int key) {
    if (!s->window) return s->free_count > 0;
    return e0_window_held(s->window) + e0_window_cost(s->window, &s->rec[key].at) <= s->max_units;
}

int e0_store_load(e0_store *s, const int32_t *keys, int n) {
    e0_lock(s->mutex);
    int free_before = s->free_count;
    for (int i = 0; i < n && has_room(s, keys[i]); i++)
        if (s->rec[keys[i]].state == ABSENT) submit(s, keys[i], false);
    settle(s);
    int loaded = free_before - s->free_count;
    s->failed = false;
    e0_unlock(s->mutex);
    return loaded;
}

void e0_store_set_victims(e0_store *s, const int32_t *keys, int n) {
    e0_lock(s->mutex);
    collect(s, NULL, 0);
    s->victims = n < s->keys ? n : s->keys;
    memcpy(s->victim, keys, (size_t)s->victims * sizeof *keys);
    s->next_victim = 0;
    e0_unlock(s->mutex);
}

int e0_store_resident(e0_store *s, int32_t *keys, int capacity) {
    e0_lock(s->mutex);
    int n = 0;
    for (int slot = 0; slot < s->o.slots && n < capacity; slot++)
        if (s->owner[slot] >= 0 && s->rec[s->owner[slot]].state == READY) keys[n++] = s->owner[slot];
    e0_unlock(s->mutex);
    return n;
}

int e0_store_take_log(e0_store *s, e0_use *out, int capacity) {
    int n = s->log_n < capacity ? s->log_n : capacity;
    memcpy(out, s->log, (size_t)n * sizeof *out);
    s->log_n = 0;
    return n;
}

void e0_store_read_counters(e0_store *s, e0_store_counters *out) {
    e0_lock(s->mutex);
    *out = s->count;
    e0_unlock(s->mutex);
}

/* Slots from `slots` on are emptied and their memory given back. Mutex held. */
static void cut_slab(e0_store *s, int slots) {
    for (int slot = slots; slot < s->o.slots; slot++)
        if (s->owner[slot] >= 0) drop(s, s->owner[slot]);
    size_t at = (size_t)slots * (size_t)s->o.slot_bytes;
    e0_pages_discard(s->slab + at, (size_t)(s->o.slots - slots) * (size_t)s->o.slot_bytes);
    s->o.slots = slots;
    s->free_count = 0;
    for (int slot = slots - 1; slot >= 0; slot--)
        if (s->owner[slot] < 0) s->free_slots[s->free_count++] = slot;
}

static void cut_window(e0_store *s) {
    while (e0_window_held(s->window) > s->max_units) {
        job j = {.dropped_n = 1};
        if ((j.dropped[0] = drop_next(s, false)) < 0) return;
        unmap(s, &j);
    }
}

void e0_store_shrink(e0_store *s, int slots) {
    e0_lock(s->mutex);
    settle(s);
    if (slots < s->capacity) {
        set_capacity(s, slots);
        if (s->window) cut_window(s);
        else cut_slab(s, slots);
    }
    e0_unlock(s->mutex);
}

int e0_store_take_error(e0_store *s, char *text, int capacity) {
    e0_lock(s->mutex);
    int n = snprintf(text, (size_t)capacity, "%s", s->error);
    s->error[0] = 0;
    e0_unlock(s->mutex);
    return n;
}

void e0_store_set_record(e0_store *s, int key, int file, int64_t offset, int64_t bytes) {
    s->rec[key] = (record){.at = {file, offset, bytes}, .slot = -1, .tick = -1, .guess = -1};
}

/* ---- life ---- */
static bool open_window(e0_store *s, const e0_store_options *o, int files) {
    if (!o->mapped) return true;
    s->window = e0_window_new(o->unit_bytes, files, s->file_bytes, s->map);
    return s->window != NULL;
}

static bool open_files(e0_store *s, const char *const *paths, int n, char *error, int size) {
    for (int i = 0; i < n; i++) {
        s->file[i] = e0_file_open(paths[i], !s->o.mapped);
        s->files = i + 1;
        s->file_bytes[i] = s->file[i] < 0 ? -1 : e0_file_size(s->file[i]);
        if (s->file_bytes[i] > 0 && s->o.mapped) s->map[i] = e0_map_open(s->file[i], s->file_bytes[i]);
        if (s->file_bytes[i] > 0 && (!s->o.mapped || s->map[i])) continue;
        snprintf(error, (size_t)size, "%s cannot be opened", paths[i]);
        return false;
    }
    return true;
}

static bool allocate(e0_store *s, int files) {
    size_t keys = (size_t)s->keys, slots = (size_t)s->o.slots;
    s->file = calloc((size_t)files, sizeof *s->file);
    s->map = calloc((size_t)files, sizeof *s->map);
    s->file_bytes = calloc((size_t)files, sizeof *s->file_bytes);
    s->rec = calloc(keys, sizeof *s->rec);
    s->victim = calloc(keys, sizeof *s->victim);
    s->log = calloc(2 * keys, sizeof *s->log);
    s->list = calloc((size_t)s->o.experts, sizeof *s->list);
    s->pending = calloc((size_t)s->o.experts, sizeof *s->pending);
    s->owner = calloc(slots, sizeof *s->owner);
    s->free_slots = calloc(slots, sizeof *s->free_slots);
    s->demand.jobs = calloc(slots, sizeof(job));
    s->ahead.jobs = calloc(slots, sizeof(job));
    s->spent = calloc(keys, sizeof *s->spent);
    s->order = calloc((size_t)s->o.experts, sizeof *s->order);
    s->arrived_now = calloc((size_t)s->o.experts, sizeof *s->arrived_now);
    s->done = calloc(slots, sizeof *s->done);
    s->lane = calloc((size_t)s->o.lanes, sizeof *s->lane);
    s->mutex = e0_mutex_new(), s->work = e0_cond_new(), s->arrived = e0_cond_new();
    if (!s->o.mapped) s->slab = e0_pages_alloc(slots * (size_t)s->o.slot_bytes);
    return s->file && s->map && s->file_bytes && s->rec && s->victim && s->log && s->list && s->pending && s->owner &&
           s->free_slots && s->demand.jobs && s->ahead.jobs && s->spent && s->order && s->arrived_now && s->done && s->lane && s->mutex && s->work && s->arrived &&
           (s->o.mapped || s->slab);
}

e0_store *e0_store_new(const e0_store_options *o, const char *const *paths, int files, char *error, int error_size) {
    e0_store *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->o = *o;
    s->keys = o->layers * o->experts;
    if (o->mapped) s->o.slots = s->keys; /* a name for every record; the window is the bound */
    s->allocated = s->o.slots;
    if (!allocate(s, files)) {
        snprintf(error, (size_t)error_size, "not enough memory for %d expert slots", o->slots);
        e0_store_free(s);
        return NULL;
    }
    for (int slot = s->allocated - 1; slot >= 0; slot--) {
        s->owner[slot] = -1;
        s->free_slots[s->free_count++] = slot;
    }
    if (!open_files(s, paths, files, error, error_size) || !open_window(s, o, files)) {
        e0_store_free(s);
        return NULL;
    }
    set_capacity(s, o->slots);
    for (; s->lanes < o->lanes; s->lanes++)
        if (!(s->lane[s->lanes] = e0_thread_start(lane_main, s))) break;
    if (s->lanes) return s;
    snprintf(error, (size_t)error_size, "no thread could be started");
    e0_store_free(s);
    return NULL;
}

void e0_store_free(e0_store *s) {
    if (!s) return;
    if (s->lanes) {
        e0_lock(s->mutex);
        s->quit = true;
        e0_signal_all(s->work);
        e0_unlock(s->mutex);
        for (int i = 0; i < s->lanes; i++) e0_thread_join(s->lane[i]);
    }
    e0_window_free(s->window);
    for (int i = 0; i < s->files; i++) {
        if (s->map[i]) e0_map_close(s->map[i], s->file_bytes[i]);
        if (s->file[i] >= 0) e0_file_close(s->file[i]);
    }
    if (s->slab) e0_pages_free(s->slab, (size_t)s->allocated * (size_t)s->o.slot_bytes);
    void *owned[] = {s->file, s->map, s->file_bytes, s->rec, s->victim, s->log, s->list, s->pending,
                     s->owner, s->free_slots, s->demand.jobs, s->ahead.jobs, s->spent, s->order, s->arrived_now, s->done, s->lane};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    if (s->mutex) e0_mutex_free(s->mutex);
    if (s->work) e0_cond_free(s->work);
    if (s->arrived) e0_cond_free(s->arrived);
    free(s);
}
