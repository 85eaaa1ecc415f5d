/* Which parts of the mapped files are in our working set, in units the system maps at once.
 *
 * Where the page cache holds large folios the kernel maps 2 MiB with one entry: ~2 µs for what takes 130 µs
 * page by page. So records are held and released by whole units, counted by reference: neighbours share
 * a unit, and the budget counts units, which is what the working set really grows by. Released units wait
 * until there are enough for one system call: every call interrupts all our threads (TLB shootdown).
 * Guarded by the store's mutex, except the system calls themselves. */
#include "window.h"

#include <stdlib.h>

typedef struct {
    int32_t file;
    int64_t unit;
} e0_span;

typedef struct {
    int32_t refs;
    bool mapped; /* touched since it was last released */
    bool stale;  /* in the stale list */
} unit;

struct e0_window {
    int64_t unit_bytes, *file_bytes;
    const uint8_t *const *map;
    unit **units; /* per file */
    int files, held, total, stale_n, stale_limit;
    e0_span stale[E0_STALE_UNITS]; /* nobody's units, still mapped: they leave together */
};

static int64_t first_unit(const e0_window *w, const e0_range *r) { return r->offset / w->unit_bytes; }
static int64_t last_unit(const e0_window *w, const e0_range *r) { return (r->offset + r->bytes - 1) / w->unit_bytes; }

e0_window *e0_window_new(int64_t unit_bytes, int files, const int64_t *file_bytes, const uint8_t *const *map) {
    e0_window *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (e0_window){.unit_bytes = unit_bytes, .map = map, .files = files, .stale_limit = 1};
    w->file_bytes = calloc((size_t)files, sizeof *w->file_bytes);
    w->units = calloc((size_t)files, sizeof *w->units);
    for (int f = 0; w->file_bytes && w->units && f < files; f++) {
        int64_t n = (file_bytes[f] + unit_bytes - 1) / unit_bytes;
        w->file_bytes[f] = file_bytes[f];
        w->total += (int)n;
        if (!(w->units[f] = calloc((size_t)n, sizeof **w->units))) break;
    }
    if (w->units && w->units[files - 1]) return w;
    e0_window_free(w);
    return NULL;
}

void e0_window_free(e0_window *w) {
    if (!w) return;
    for (int f = 0; w->units && f < w->files; f++) free(w->units[f]);
    free(w->units);
    free(w->file_bytes);
    free(w);
}

void e0_window_let_wait(e0_window *w, int units) { w->stale_limit = units < 1 ? 1 : units < E0_STALE_UNITS ? units : E0_STALE_UNITS; }
int e0_window_held(const e0_window *w) { return w->held; }
int e0_window_total(const e0_window *w) { return w->total; }

int e0_window_cost(const e0_window *w, const e0_range *r) {
    int cost = 0;
    for (int64_t u = first_unit(w, r); u <= last_unit(w, r); u++) cost += w->units[r->file][u].refs == 0;
    return cost;
}

void e0_window_hold(e0_window *w, const e0_range *r) {
    for (int64_t u = first_unit(w, r); u <= last_unit(w, r); u++) w->held += w->units[r->file][u].refs++ == 0;
}

void e0_window_drop(e0_window *w, const e0_range *r) {
    for (int64_t u = first_unit(w, r); u <= last_unit(w, r); u++) w->held -= --w->units[r->file][u].refs == 0;
}

/* Takes what is still nobody's out of the stale list. Mutex held. */
static int take_stale(e0_window *w, e0_span *out) {
    int n = 0;
    for (int i = 0; i < w->stale_n; i++) {
        unit *x = w->units[w->stale[i].file] + w->stale[i].unit;
        x->stale = false;
        if (x->refs || !x->mapped) continue;
        x->mapped = false;
        out[n++] = w->stale[i];
    }
    w->stale_n = 0;
    return n;
}

static void unmap_units(e0_window *w, const e0_span *spans, int n) {
    const uint8_t *at[E0_STALE_UNITS];
    int64_t bytes[E0_STALE_UNITS];
    for (int i = 0; i < n; i++) {
        int64_t offset = spans[i].unit * w->unit_bytes, left = w->file_bytes[spans[i].file] - offset;
        at[i] = w->map[spans[i].file] + offset;
        bytes[i] = left < w->unit_bytes ? left : w->unit_bytes;
    }
    e0_map_release(at, bytes, n);
}

void e0_window_release(e0_window *w, const e0_range *r, e0_mutex *mutex) {
    e0_span gone[E0_STALE_UNITS];
    for (int64_t u = first_unit(w, r); u <= last_unit(w, r); u++) {
        int n = 0;
        e0_lock(mutex);
        unit *x = w->units[r->file] + u;
        if (x->refs == 0 && x->mapped && !x->stale) {
            x->stale = true;
            w->stale[w->stale_n++] = (e0_span){r->file, u};
            if (w->stale_n >= w->stale_limit) n = take_stale(w, gone);
        }
        e0_unlock(mutex);
        if (n) unmap_units(w, gone, n);
    }
}

int e0_window_populate(e0_window *w, const e0_range *r, e0_mutex *mutex) {
    e0_lock(mutex);
    for (int64_t u = first_unit(w, r); u <= last_unit(w, r); u++) w->units[r->file][u].mapped = true;
    e0_unlock(mutex);
    return e0_map_populate(w->map[r->file] + r->offset, r->bytes);
}
