/* A mapped file can be cut short under us; touching what is gone raises SIGBUS, which would end the
 * process. The handler puts zeros there instead and raises the map's flag: the reply fails, the app lives.
 * Only faults inside guarded maps are taken; all others go to the handler that was there before.
 * Windows refuses to shorten a file that is mapped, so nothing is needed there. */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#include "e0.h"

#if defined(_WIN32)
int e0_map_guard(const uint8_t *at, int64_t bytes, atomic_bool *cut) { (void)at, (void)bytes, (void)cut; return 0; }
void e0_map_unguard(const uint8_t *at) { (void)at; }
#else
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_MAPS = 256 };

/* Read by the handler, on any thread, at any time: `at` is set last and cleared first. */
typedef struct {
    _Atomic(uintptr_t) at;
    _Atomic(uintptr_t) end;
    _Atomic(atomic_bool *) cut;
} guarded;

static guarded maps[MAX_MAPS];
static struct sigaction before;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static bool installed;

static guarded *map_of(uintptr_t address) {
    for (int i = 0; i < MAX_MAPS; i++) {
        uintptr_t at = atomic_load(&maps[i].at);
        if (at && address >= at && address < atomic_load(&maps[i].end)) return maps + i;
    }
    return NULL;
}

static void pass_on(int number, siginfo_t *info, void *context) {
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) before.sa_handler(number);
    else sigaction(number, &before, NULL); /* the access is made again, and ends the process as it would have */
}

/* What is cut off is gone to the file's end: one map of zeros takes the place of all of it. */
static void on_bus_error(int number, siginfo_t *info, void *context) {
    guarded *g = map_of((uintptr_t)info->si_addr);
    uintptr_t page = (uintptr_t)info->si_addr & ~((uintptr_t)getpagesize() - 1);
    int how = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;
    if (!g || mmap((void *)page, atomic_load(&g->end) - page, PROT_READ, how, -1, 0) == MAP_FAILED)
        pass_on(number, info, context);
    else
        atomic_store(atomic_load(&g->cut), true);
}

static bool install(void) {
    struct sigaction ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    if (!installed) installed = sigaction(SIGBUS, &ours, &before) == 0;
    return installed;
}

int e0_map_guard(const uint8_t *at, int64_t bytes, atomic_bool *cut) {
    pthread_mutex_lock(&changing);
    int i = 0;
    while (i < MAX_MAPS && atomic_load(&maps[i].at)) i++;
    bool free_place = i < MAX_MAPS && install();
    if (free_place) {
        atomic_store(&maps[i].end, (uintptr_t)at + (uintptr_t)bytes);
        atomic_store(&maps[i].cut, cut);
        atomic_store(&maps[i].at, (uintptr_t)at);
    }
    pthread_mutex_unlock(&changing);
    return free_place ? 0 : -1;
}

void e0_map_unguard(const uint8_t *at) {
    pthread_mutex_lock(&changing);
    for (int i = 0; i < MAX_MAPS; i++)
        if (atomic_load(&maps[i].at) == (uintptr_t)at) atomic_store(&maps[i].at, 0);
    pthread_mutex_unlock(&changing);
}
#endif
