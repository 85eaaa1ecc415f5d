/* Room for records: which go when others come.
 *
 * Victims are taken in Python's order, after what this chunk has spent: a long chunk streams, and what a
 * layer used least beyond its fair share is the first to be replaced. Never one that the layer at hand
 * uses. In mapped mode room is counted in units of the map (window.c), else in slots of the slab. */
#include "store.h"

#include <stdlib.h>

void e0_slot_drop(e0_store *s, int key) {
    e0_record *r = s->rec + key;
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
    const e0_record *r = s->rec + key;
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

int e0_slot_drop_next(e0_store *s, bool ahead) {
    int key = next_victim(s);
    if (key < 0 && !ahead) key = scan_victim(s); /* a prediction takes only what is spent or chosen */
    if (key >= 0) e0_slot_drop(s, key);
    return key;
}

/* What was dropped for a read that is not made leaves the map here. Mutex held. */
void e0_slot_unmap(e0_store *s, const e0_job *j) {
    e0_unlock(s->mutex);
    for (int i = 0; i < j->dropped_n; i++) e0_window_release(s->window, &s->rec[j->dropped[i]].at, s->mutex);
    e0_lock(s->mutex);
}

/* Mapped mode: drops records until the new one's units fit the window. */
bool e0_slot_make_room(e0_store *s, bool ahead, e0_job *j) {
    const e0_range *at = &s->rec[j->key].at;
    while (e0_window_held(s->window) + e0_window_cost(s->window, at) > s->max_units) {
        if (j->dropped_n == MAX_DROPPED) {
            e0_slot_unmap(s, j);
            j->dropped_n = 0;
        }
        int key = e0_slot_drop_next(s, ahead);
        if (key < 0) return false;
        j->dropped[j->dropped_n++] = key;
    }
    e0_window_hold(s->window, at);
    return true;
}

int e0_slot_take(e0_store *s, bool ahead) {
    if (s->free_count) return s->free_slots[--s->free_count];
    int slot = -1, key = next_victim(s);
    if (key < 0 && !ahead) key = scan_victim(s);
    if (key < 0) return -1;
    slot = s->rec[key].slot;
    e0_slot_drop(s, key);
    return slot;
}

static int by_uses(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* After a layer of a long chunk: its records beyond a fair share, least used first, may go. */
void e0_slot_spend(e0_store *s) {
    int share = s->capacity / s->o.layers, n = 0;
    int64_t *order = s->order; /* uses in the high half, key in the low one */
    for (int e = 0; e < s->o.experts; e++) {
        int key = s->layer * s->o.experts + e;
        const e0_record *r = s->rec + key;
        if (r->state == READY) order[n++] = (int64_t)(r->tick == s->tick ? r->uses : 0) << 32 | key;
    }
    if (n <= share) return;
    qsort(order, (size_t)n, sizeof *order, by_uses);
    for (int i = 0; i < n - share; i++) s->spent[s->spent_n++] = (int32_t)(order[i] & 0xffffffff);
}

/* The records the budget has room for; in mapped mode the same bytes in units. */
void e0_slot_set_capacity(e0_store *s, int slots) {
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
bool e0_slot_has_room(const e0_store *s, int key) {
    if (!s->window) return s->free_count > 0;
    return e0_window_held(s->window) + e0_window_cost(s->window, &s->rec[key].at) <= s->max_units;
}

/* Slots from `slots` on are emptied and their memory given back. Mutex held. */
static void cut_slab(e0_store *s, int slots) {
    for (int slot = slots; slot < s->o.slots; slot++)
        if (s->owner[slot] >= 0) e0_slot_drop(s, s->owner[slot]);
    size_t at = (size_t)slots * (size_t)s->o.slot_bytes;
    e0_pages_discard(s->slab + at, (size_t)(s->o.slots - slots) * (size_t)s->o.slot_bytes);
    s->o.slots = slots;
    s->free_count = 0;
    for (int slot = slots - 1; slot >= 0; slot--)
        if (s->owner[slot] < 0) s->free_slots[s->free_count++] = slot;
}

static void cut_window(e0_store *s) {
    while (e0_window_held(s->window) > s->max_units) {
        e0_job j = {.dropped_n = 1};
        if ((j.dropped[0] = e0_slot_drop_next(s, false)) < 0) return;
        e0_slot_unmap(s, &j);
    }
}


void e0_slot_cut(e0_store *s, int slots) {
    e0_slot_set_capacity(s, slots);
    if (s->window) cut_window(s);
    else cut_slab(s, slots);
}
