/* Page allocation by malloc, so that a memory checker sees both ends of every block. The library's own
 * is compiled away by renaming it (see tests/helpers/native_build.py). */
#include "e0.h"

#include <stdlib.h>
#include <string.h>

void *e0_pages_alloc(size_t n) {
    void *p = NULL;
    if (!n || posix_memalign(&p, 4096, n)) return NULL;
    return memset(p, 0, n);
}
void e0_pages_free(void *p, size_t n) { (void)n; free(p); }
void e0_pages_discard(void *p, size_t n) { memset(p, 0, n); }
