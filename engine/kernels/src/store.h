/* The store's state, shared by store.c (the layer at hand), slots.c (room for records), reads.c (bringing
 * them in) and store_new.c (opening and closing). All of it is guarded by `mutex`. */
#ifndef E0_STORE_H
#define E0_STORE_H
#include "window.h"

typedef enum { ABSENT, READING, READY } e0_record_state;

enum { MAX_DROPPED = 8 };

typedef struct {
    e0_range at;
    int32_t slot, tick, wanted; /* wanted: 1 + index in the layer's list, 0 none */
    int32_t uses;               /* tokens of this chunk that used it */
    int16_t state;
    bool pinned, ahead; /* ahead: read on a prediction and not used yet */
} e0_record;

typedef struct {
    int32_t key, slot;
    int32_t dropped[MAX_DROPPED]; /* mapped mode: records whose units leave the map first */
    int32_t dropped_n, error;
    bool ahead;
} e0_job;

typedef struct {
    e0_job *jobs; /* a ring of `allocated` */
    int head, n;
} e0_job_queue;

struct e0_store {
    e0_store_options o;
    int files, keys, allocated, free_count, tick, layer, list_n, waiting, next_pending, in_flight, victims, next_victim, hand;
    int quick_reads, spent_n, next_spent, ahead_running, demand_running, chunk_tokens, capacity, max_units;
    intptr_t *file;
    const uint8_t **map;
    int64_t *file_bytes;
    uint8_t *slab;
    e0_window *window; /* mapped mode */
    e0_record *rec;
    int32_t *owner, *free_slots, *victim, *list, *pending, *spent;
    int pending_n;
    e0_job_queue demand, ahead;
    e0_job *done;
    int done_n;
    int64_t *order;
    int32_t *arrived_now;
    e0_use *log;
    int log_n;
    e0_store_counters count;
    char error[256];
    bool failed, quit;
    atomic_bool cut; /* a mapped file was shortened: zeros stand for what is gone */
    e0_thread **lane;
    int lanes;
    e0_mutex *mutex;
    e0_cond *work, *arrived;
};

/* ---- slots.c ---- */
void e0_slot_drop(e0_store *, int key);
/* Drops the next victim; -1 when none may go. A prediction takes only what is spent or chosen. */
int e0_slot_drop_next(e0_store *, bool ahead);
int e0_slot_take(e0_store *, bool ahead); /* -1 when none can be had */
bool e0_slot_make_room(e0_store *, bool ahead, e0_job *);
void e0_slot_unmap(e0_store *, const e0_job *);
void e0_slot_spend(e0_store *);
void e0_slot_set_capacity(e0_store *, int slots);
bool e0_slot_has_room(const e0_store *, int key);
void e0_slot_cut(e0_store *, int slots);

/* ---- reads.c ---- */
void e0_lane_main(void *store);
bool e0_read_submit(e0_store *, int key, bool ahead);
void e0_read_promote(e0_store *, int key);
/* Takes what has arrived; fills `indices` with those of the layer's list. */
int e0_read_collect(e0_store *, int32_t *indices, int capacity);
void e0_read_settle(e0_store *); /* until nothing is in flight; nothing may be wanted */
bool e0_read_is_warm(const e0_store *);
#endif
