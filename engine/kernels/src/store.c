/* The expert table, as the program of a chunk and Python use it.
 *
 * A slot is room for one record: a piece of the slab in direct mode. In mapped mode the map itself is the
 * data, every record has a slot, and window.c counts what they add to the working set. Python decides the
 * order of victims between chunks; within a chunk native code acts on it. */
#include "store.h"

#include <stdio.h>
#include <string.h>

enum { STREAM_TOKENS = 16 }; /* a chunk this long touches so much of a layer that it streams */

static void pump(e0_store *s) {
    while (s->next_pending < s->pending_n && e0_read_submit(s, s->pending[s->next_pending], false)) s->next_pending++;
}

/* Mapped mode, after a cut: maps the files anew if they are whole again. */
static void map_again(e0_store *s) {
    for (int i = 0; i < s->files; i++)
        if (e0_file_size(s->file[i]) < s->file_bytes[i] || e0_map_again(s->map[i], s->file[i], s->file_bytes[i])) return;
    atomic_store(&s->cut, false);
}

/* ---- used by exec.c ---- */
bool e0_store_was_cut(e0_store *s) {
    if (!atomic_load(&s->cut)) return false;
    e0_lock(s->mutex);
    snprintf(s->error, sizeof s->error, "a file is shorter than when the model was opened");
    e0_unlock(s->mutex);
    return true;
}

void e0_store_begin_tick(e0_store *s, int tokens) {
    if (atomic_load(&s->cut)) map_again(s);
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
    e0_read_collect(s, NULL, 0);
    for (int i = 0; i < n; i++) {
        int key = layer * s->o.experts + experts[i];
        e0_record *r = s->rec + key;
        s->list[i] = key;
        r->uses = tokens[i];
        r->tick = s->tick;
        r->pinned = true;
        ready[i] = r->state == READY;
        log_use(s, key, tokens[i], !ready[i]);
        s->count.ahead_used += r->ahead;
        if (!ready[i]) {
            r->wanted = i + 1;
            s->waiting++;
            if (r->state == ABSENT) s->pending[s->pending_n++] = key;
            else if (r->ahead) e0_read_promote(s, key);
        }
        r->ahead = false;
    }
    pump(s);
    if (e0_read_is_warm(s)) {
        int n_ready = e0_read_collect(s, s->arrived_now, n);
        for (int i = 0; i < n_ready; i++) ready[s->arrived_now[i]] = true;
    }
    e0_unlock(s->mutex);
}

bool e0_store_predicts(e0_store *s) {
    e0_lock(s->mutex);
    bool useful = s->capacity < s->keys && !e0_read_is_warm(s);
    e0_unlock(s->mutex);
    return useful;
}

int e0_store_predict(e0_store *s, int layer, const int32_t *experts, int n, int sure, int limit) {
    e0_lock(s->mutex);
    int reads = 0;
    for (int i = 0; i < n; i++) {
        e0_record *r = s->rec + layer * s->o.experts + experts[i];
        r->tick = s->tick; /* kept: no victim of this chunk */
        if (r->state != ABSENT || i >= sure || reads == limit) continue;
        reads += e0_read_submit(s, layer * s->o.experts + experts[i], true);
    }
    s->count.ahead_reads += reads;
    e0_unlock(s->mutex);
    return reads;
}

const uint8_t *e0_store_data(const e0_store *s, int layer, int expert) {
    const e0_record *r = s->rec + layer * s->o.experts + expert;
    return s->window ? s->map[r->at.file] + r->at.offset : s->slab + (size_t)r->slot * (size_t)s->o.slot_bytes;
}

int e0_store_next(e0_store *s, int32_t *indices, int capacity) {
    double start = e0_now();
    e0_lock(s->mutex);
    int n = 0;
    while (s->waiting > 0 && !s->failed) {
        if ((n = e0_read_collect(s, indices, capacity)) || s->failed) break;
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

void e0_store_end(e0_store *s) {
    e0_lock(s->mutex);
    for (int i = 0; i < s->list_n; i++) {
        s->rec[s->list[i]].wanted = 0;
        s->rec[s->list[i]].pinned = false;
    }
    s->pending_n = s->next_pending = s->waiting = 0;
    if (s->failed) e0_read_settle(s); /* others of the layer may be in flight still; their errors are this chunk's */
    if (s->chunk_tokens >= STREAM_TOKENS && s->list_n && s->capacity < s->keys) e0_slot_spend(s);
    s->list_n = 0;
    s->failed = false;
    e0_unlock(s->mutex);
}

/* ---- called from Python, never while a program runs ---- */
int e0_store_load(e0_store *s, const int32_t *keys, int n) {
    e0_lock(s->mutex);
    int free_before = s->free_count;
    for (int i = 0; i < n && e0_slot_has_room(s, keys[i]); i++)
        if (s->rec[keys[i]].state == ABSENT) e0_read_submit(s, keys[i], false);
    e0_read_settle(s);
    int loaded = free_before - s->free_count;
    s->failed = false;
    e0_unlock(s->mutex);
    return loaded;
}

void e0_store_set_victims(e0_store *s, const int32_t *keys, int n) {
    e0_lock(s->mutex);
    e0_read_collect(s, NULL, 0);
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

void e0_store_shrink(e0_store *s, int slots) {
    e0_lock(s->mutex);
    e0_read_settle(s);
    if (slots < s->capacity) e0_slot_cut(s, slots);
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
    s->rec[key] = (e0_record){.at = {file, offset, bytes}, .slot = -1, .tick = -1};
}

