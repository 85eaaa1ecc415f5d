/* Opening and closing a store. */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        if (s->file_bytes[i] > 0 && s->o.mapped && (s->map[i] = e0_map_open(s->file[i], s->file_bytes[i])))
            e0_map_guard(s->map[i], s->file_bytes[i], &s->cut);
        if (s->file_bytes[i] > 0 && (!s->o.mapped || s->map[i])) continue;
        snprintf(error, (size_t)size, "%s cannot be opened", paths[i]);
        return false;
    }
    return true;
}

typedef struct {
    void *at; /* of the pointer */
    size_t n, size;
} array;

enum { ARRAYS = 17 };

/* Every array a store owns. */
static void list_arrays(e0_store *s, size_t files, array *out) {
    size_t keys = (size_t)s->keys, slots = (size_t)s->allocated, experts = (size_t)s->o.experts;
    array all[ARRAYS] = {
        {&s->file, files, sizeof *s->file}, {&s->map, files, sizeof *s->map},
        {&s->file_bytes, files, sizeof *s->file_bytes}, {&s->rec, keys, sizeof *s->rec},
        {&s->victim, keys, sizeof *s->victim}, {&s->log, 2 * keys, sizeof *s->log},
        {&s->spent, keys, sizeof *s->spent}, {&s->list, experts, sizeof *s->list},
        {&s->pending, experts, sizeof *s->pending}, {&s->order, experts, sizeof *s->order},
        {&s->arrived_now, experts, sizeof *s->arrived_now}, {&s->owner, slots, sizeof *s->owner},
        {&s->free_slots, slots, sizeof *s->free_slots}, {&s->demand.jobs, slots, sizeof(e0_job)},
        {&s->ahead.jobs, slots, sizeof(e0_job)},
        {&s->done, slots, sizeof(e0_job)}, {&s->lane, (size_t)s->o.lanes, sizeof *s->lane},
    };
    memcpy(out, all, sizeof all);
}

static bool allocate(e0_store *s, int files) {
    array arrays[ARRAYS];
    list_arrays(s, (size_t)files, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        void *data = calloc(arrays[i].n, arrays[i].size);
        if (!data) return false;
        memcpy(arrays[i].at, &data, sizeof data);
    }
    s->mutex = e0_mutex_new(), s->work = e0_cond_new(), s->arrived = e0_cond_new();
    if (!s->o.mapped) s->slab = e0_pages_alloc((size_t)s->allocated * (size_t)s->o.slot_bytes);
    return s->mutex && s->work && s->arrived && (s->o.mapped || s->slab);
}

static void free_arrays(e0_store *s) {
    array arrays[ARRAYS];
    list_arrays(s, 0, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        void *data;
        memcpy(&data, arrays[i].at, sizeof data);
        free(data);
    }
}

static bool start_lanes(e0_store *s) {
    for (; s->lanes < s->o.lanes; s->lanes++)
        if (!(s->lane[s->lanes] = e0_thread_start(e0_lane_main, s))) break;
    return s->lanes > 0;
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
    e0_slot_set_capacity(s, o->slots);
    if (start_lanes(s)) return s;
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
        if (s->map[i]) e0_map_unguard(s->map[i]), e0_map_close(s->map[i], s->file_bytes[i]);
        if (s->file[i] >= 0) e0_file_close(s->file[i]);
    }
    if (s->slab) e0_pages_free(s->slab, (size_t)s->allocated * (size_t)s->o.slot_bytes);
    free_arrays(s);
    if (s->mutex) e0_mutex_free(s->mutex);
    if (s->work) e0_cond_free(s->work);
    if (s->arrived) e0_cond_free(s->arrived);
    free(s);
}
