/* The part of the mapped files that is in our working set. Used by store.c only. */
#ifndef E0_WINDOW_H
#define E0_WINDOW_H
#include "e0.h"

enum { E0_STALE_UNITS = 32 }; /* most units that wait to leave the working set */

typedef struct {
    int32_t file;
    int64_t offset, bytes;
} e0_range;

typedef struct e0_window e0_window;
e0_window *e0_window_new(int64_t unit_bytes, int files, const int64_t *file_bytes, const uint8_t *const *map);
void e0_window_free(e0_window *);
/* How many released units may wait to leave together; they still count for the caller. */
void e0_window_let_wait(e0_window *, int units);
int e0_window_held(const e0_window *);  /* units somebody holds */
int e0_window_total(const e0_window *); /* units of all files */
int e0_window_cost(const e0_window *, const e0_range *); /* units that holding it would add */
void e0_window_hold(e0_window *, const e0_range *);
void e0_window_drop(e0_window *, const e0_range *);
/* Called without the mutex. The range's units that nobody holds leave the working set, some calls later. */
void e0_window_release(e0_window *, const e0_range *, e0_mutex *);
/* Called without the mutex, after hold. 0, or an errno-like code. */
int e0_window_populate(e0_window *, const e0_range *, e0_mutex *);
#endif
