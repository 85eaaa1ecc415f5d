/* Threads, files and memory maps of each system; nothing else in the library calls the system. */
#if !defined(_WIN32)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#endif
#include "e0.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
void e0_pause(void) { _mm_pause(); }
#elif defined(__aarch64__)
void e0_pause(void) { __asm__ __volatile__("yield"); }
#else
void e0_pause(void) {}
#endif

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

struct e0_mutex { SRWLOCK lock; };
struct e0_cond { CONDITION_VARIABLE cond; };
struct e0_thread { HANDLE handle; void (*fn)(void *); void *arg; };

e0_mutex *e0_mutex_new(void) { return calloc(1, sizeof(e0_mutex)); }
void e0_mutex_free(e0_mutex *m) { free(m); }
void e0_lock(e0_mutex *m) { AcquireSRWLockExclusive(&m->lock); }
void e0_unlock(e0_mutex *m) { ReleaseSRWLockExclusive(&m->lock); }
e0_cond *e0_cond_new(void) { return calloc(1, sizeof(e0_cond)); }
void e0_cond_free(e0_cond *c) { free(c); }
void e0_wait(e0_cond *c, e0_mutex *m) { SleepConditionVariableSRW(&c->cond, &m->lock, INFINITE, 0); }
void e0_signal(e0_cond *c) { WakeConditionVariable(&c->cond); }
void e0_signal_all(e0_cond *c) { WakeAllConditionVariable(&c->cond); }

static DWORD WINAPI thread_main(LPVOID arg) {
    e0_thread *t = arg;
    t->fn(t->arg);
    return 0;
}
e0_thread *e0_thread_start(void (*fn)(void *), void *arg) {
    e0_thread *t = calloc(1, sizeof *t);
    t->fn = fn;
    t->arg = arg;
    t->handle = CreateThread(NULL, 0, thread_main, t, 0, NULL);
    if (t->handle) return t;
    free(t);
    return NULL;
}
void e0_thread_join(e0_thread *t) {
    WaitForSingleObject(t->handle, INFINITE);
    CloseHandle(t->handle);
    free(t);
}
void e0_yield(void) { SwitchToThread(); }
double e0_now(void) {
    LARGE_INTEGER now, rate;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&rate);
    return (double)now.QuadPart / (double)rate.QuadPart;
}

void *e0_pages_alloc(size_t n) { return VirtualAlloc(NULL, n, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }
void e0_pages_free(void *p, size_t n) { (void)n; if (p) VirtualFree(p, 0, MEM_RELEASE); }
void e0_pages_discard(void *p, size_t n) {
    VirtualFree(p, n, MEM_DECOMMIT);
    VirtualAlloc(p, n, MEM_COMMIT, PAGE_READWRITE);
}

intptr_t e0_file_open(const char *path, int direct) {
    int n = MultiByteToWideChar(CP_UTF8, 0, path, -1, NULL, 0);
    wchar_t *wide = malloc((size_t)n * sizeof(wchar_t));
    MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, n);
    DWORD flags = direct ? FILE_FLAG_NO_BUFFERING | FILE_FLAG_OVERLAPPED : FILE_FLAG_RANDOM_ACCESS;
    HANDLE h = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, flags, NULL);
    free(wide);
    return h == INVALID_HANDLE_VALUE ? -1 : (intptr_t)h;
}
void e0_file_close(intptr_t f) { CloseHandle((HANDLE)f); }
int64_t e0_file_size(intptr_t f) {
    LARGE_INTEGER size;
    return GetFileSizeEx((HANDLE)f, &size) ? size.QuadPart : -1;
}
/* Overlapped: on a plain handle the system lets one read wait for the other, and lanes would not help. */
int e0_file_read(intptr_t f, void *dst, int64_t offset, int64_t bytes) {
    uint8_t *p = dst;
    HANDLE done = CreateEventW(NULL, TRUE, FALSE, NULL);
    int error = done ? 0 : EIO;
    while (bytes > 0 && !error) {
        OVERLAPPED at = {0};
        at.Offset = (DWORD)offset, at.OffsetHigh = (DWORD)(offset >> 32), at.hEvent = done;
        DWORD want = bytes > (1 << 30) ? 1 << 30 : (DWORD)bytes, got = 0;
        bool begun = ReadFile((HANDLE)f, p, want, NULL, &at) || GetLastError() == ERROR_IO_PENDING;
        if (!begun || !GetOverlappedResult((HANDLE)f, &at, &got, TRUE))
            error = GetLastError() == ERROR_HANDLE_EOF ? EOVERFLOW : EIO;
        else if (got == 0 || got % 4096)
            error = EOVERFLOW; /* the file ends here, before its manifest says */
        p += got, offset += got, bytes -= got;
    }
    if (done) CloseHandle(done);
    return error;
}
const uint8_t *e0_map_open(intptr_t f, int64_t bytes) {
    HANDLE map = CreateFileMappingW((HANDLE)f, NULL, PAGE_READONLY, 0, 0, NULL);
    if (!map) return NULL;
    const uint8_t *p = MapViewOfFile(map, FILE_MAP_READ, 0, 0, (SIZE_T)bytes);
    CloseHandle(map);
    return p;
}
int e0_map_again(const uint8_t *p, intptr_t f, int64_t bytes) { (void)p, (void)f, (void)bytes; return ENOSYS; }
void e0_map_close(const uint8_t *p, int64_t bytes) { (void)bytes; UnmapViewOfFile(p); }
int e0_map_populate(const uint8_t *p, int64_t bytes) {
    WIN32_MEMORY_RANGE_ENTRY range = {(PVOID)p, (SIZE_T)bytes};
    PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0); /* a hint: pages enter our set when touched */
    volatile uint8_t sum = 0;
    for (int64_t i = 0; i < bytes; i += 4096) sum = (uint8_t)(sum + p[i]);
    return 0;
}
/* VirtualUnlock of a range that is not locked removes its pages from the working set (Win32 docs). */
void e0_map_release(const uint8_t *const *at, const int64_t *bytes, int n) {
    for (int i = 0; i < n; i++) VirtualUnlock((LPVOID)at[i], (SIZE_T)bytes[i]);
}

#else
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct e0_mutex { pthread_mutex_t lock; };
struct e0_cond { pthread_cond_t cond; };
struct e0_thread { pthread_t id; void (*fn)(void *); void *arg; };

e0_mutex *e0_mutex_new(void) {
    e0_mutex *m = calloc(1, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    return m;
}
void e0_mutex_free(e0_mutex *m) { pthread_mutex_destroy(&m->lock); free(m); }
void e0_lock(e0_mutex *m) { pthread_mutex_lock(&m->lock); }
void e0_unlock(e0_mutex *m) { pthread_mutex_unlock(&m->lock); }
e0_cond *e0_cond_new(void) {
    e0_cond *c = calloc(1, sizeof *c);
    pthread_cond_init(&c->cond, NULL);
    return c;
}
void e0_cond_free(e0_cond *c) { pthread_cond_destroy(&c->cond); free(c); }
void e0_wait(e0_cond *c, e0_mutex *m) { pthread_cond_wait(&c->cond, &m->lock); }
void e0_signal(e0_cond *c) { pthread_cond_signal(&c->cond); }
void e0_signal_all(e0_cond *c) { pthread_cond_broadcast(&c->cond); }

static void *thread_main(void *arg) {
    e0_thread *t = arg;
    t->fn(t->arg);
    return NULL;
}
e0_thread *e0_thread_start(void (*fn)(void *), void *arg) {
    e0_thread *t = calloc(1, sizeof *t);
    t->fn = fn;
    t->arg = arg;
    if (pthread_create(&t->id, NULL, thread_main, t) == 0) return t;
    free(t);
    return NULL;
}
void e0_thread_join(e0_thread *t) { pthread_join(t->id, NULL); free(t); }
void e0_yield(void) { sched_yield(); }
double e0_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *e0_pages_alloc(size_t n) {
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
#if defined(MADV_HUGEPAGE)
    madvise(p, n, MADV_HUGEPAGE);
#endif
    return p;
}
void e0_pages_free(void *p, size_t n) { if (p) munmap(p, n); }
void e0_pages_discard(void *p, size_t n) { madvise(p, n, MADV_DONTNEED); }

intptr_t e0_file_open(const char *path, int direct) {
    int flags = O_RDONLY | O_CLOEXEC;
#if defined(O_DIRECT)
    if (direct) {
        int fd = open(path, flags | O_DIRECT);
        if (fd >= 0) return fd; /* some file systems refuse O_DIRECT: buffered then */
    }
#endif
    int fd = open(path, flags);
#if defined(F_NOCACHE)
    if (fd >= 0 && direct) fcntl(fd, F_NOCACHE, 1);
#endif
    return fd;
}
void e0_file_close(intptr_t f) { close((int)f); }
int64_t e0_file_size(intptr_t f) {
    struct stat st;
    return fstat((int)f, &st) == 0 ? (int64_t)st.st_size : -1;
}
int e0_file_read(intptr_t f, void *dst, int64_t offset, int64_t bytes) {
    uint8_t *p = dst;
    while (bytes > 0) {
        ssize_t got = pread((int)f, p, (size_t)bytes, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0 || got % 4096) return EOVERFLOW; /* the file ends here, before its manifest says */
        p += got, offset += got, bytes -= got;
    }
    return 0;
}
static void advise_map(void *p, size_t bytes) {
    madvise(p, bytes, MADV_RANDOM); /* reading ahead into a neighbour is wasted: records are whole */
#if defined(MADV_HUGEPAGE)
    madvise(p, bytes, MADV_HUGEPAGE); /* cold reads bring 2 MiB folios, which map with one entry */
#endif
}
const uint8_t *e0_map_open(intptr_t f, int64_t bytes) {
    void *p = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, (int)f, 0);
    if (p == MAP_FAILED) return NULL;
    advise_map(p, (size_t)bytes);
    return p;
}
int e0_map_again(const uint8_t *p, intptr_t f, int64_t bytes) {
    void *at = (void *)(uintptr_t)p;
    if (mmap(at, (size_t)bytes, PROT_READ, MAP_SHARED | MAP_FIXED, (int)f, 0) == MAP_FAILED) return errno;
    advise_map(at, (size_t)bytes);
    return 0;
}
void e0_map_close(const uint8_t *p, int64_t bytes) { munmap((void *)(uintptr_t)p, (size_t)bytes); }

#if defined(__linux__)
#include <sys/syscall.h>
#if !defined(SYS_process_madvise)
#define SYS_process_madvise 440
#endif
enum { PIDFD_SELF_PROCESS = -10001 }; /* PIDFD_SELF_THREAD_GROUP, Linux 6.14 */
#endif
#if !defined(MADV_POPULATE_READ) && defined(__linux__)
#define MADV_POPULATE_READ 22
#endif
int e0_map_populate(const uint8_t *p, int64_t bytes) {
    void *at = (void *)(uintptr_t)p;
#if defined(__linux__)
    while (madvise(at, (size_t)bytes, MADV_POPULATE_READ) != 0) {
        if (errno == EINTR || errno == EAGAIN) continue;
        if (errno != EINVAL) return errno == EFAULT || errno == EHWPOISON ? EIO : errno;
        break; /* a kernel before 5.14: the pages fault in when touched */
    }
#else
    madvise(at, (size_t)bytes, MADV_WILLNEED);
#endif
    return 0;
}
#if defined(__linux__)
/* One call for all: since Linux 6.13 process_madvise takes MADV_DONTNEED for the calling process, and
 * flushes the TLBs once. Returns what it has done. */
static int64_t release_together(const uint8_t *const *at, const int64_t *bytes, int n) {
    struct iovec range[64];
    for (int i = 0; i < n; i++) range[i] = (struct iovec){(void *)(uintptr_t)at[i], (size_t)bytes[i]};
    return syscall(SYS_process_madvise, PIDFD_SELF_PROCESS, range, (size_t)n, MADV_DONTNEED, 0);
}
#endif

void e0_map_release(const uint8_t *const *at, const int64_t *bytes, int n) {
    int64_t done = 0;
#if defined(__linux__)
    if (n > 1 && n <= 64) done = release_together(at, bytes, n);
#endif
    for (int i = 0; i < n; i++) {
        if (done >= bytes[i]) done -= bytes[i]; /* released already */
        else madvise((void *)(uintptr_t)at[i], (size_t)bytes[i], MADV_DONTNEED), done = 0;
    }
}
#endif
