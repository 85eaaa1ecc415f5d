/* The KV cache: where a head lies, giving its end back, and copying rows of it out and in. */
#include "exec.h"

#include <string.h>

e0_kv e0_kv_head(const e0_exec *x, int layer, int head) {
    size_t at = (size_t)head * (size_t)x->positions, bytes = at * (size_t)x->head_dim * (size_t)x->kv_value;
    e0_kv kv = {x->k_cache[layer] + bytes, x->v_cache[layer] + bytes, NULL, NULL};
    if (x->kv_scale) {
        kv.k_scale = x->kv_scale[layer] + at;
        kv.v_scale = kv.k_scale + (size_t)x->kv_heads * (size_t)x->positions;
    }
    return kv;
}

/* Copies a run of bytes from the cache to `rows`, or back, and steps on. */
static uint8_t *move_bytes(void *cache, uint8_t *rows, size_t bytes, bool out) {
    if (out) memcpy(rows, cache, bytes);
    else memcpy(cache, rows, bytes);
    return rows + bytes;
}

/* Keys lie in tiles: a whole one is moved at once, of a cut one every dim's lanes. */
static uint8_t *move_keys(const e0_exec *x, uint8_t *k, int begin, int end, uint8_t *rows, bool out) {
    size_t dim = (size_t)x->head_dim, value = (size_t)x->kv_value;
    for (int at = begin, n; at < end; at += n) {
        int lane = at % E0_KEY_TILE;
        uint8_t *tile = k + (size_t)(at - lane) * dim * value;
        n = E0_KEY_TILE - lane < end - at ? E0_KEY_TILE - lane : end - at;
        if (n == E0_KEY_TILE) rows = move_bytes(tile, rows, E0_KEY_TILE * dim * value, out);
        else
            for (size_t d = 0; d < dim; d++)
                rows = move_bytes(tile + (d * E0_KEY_TILE + (size_t)lane) * value, rows, (size_t)n * value, out);
    }
    return rows;
}

static void move_rows(const e0_exec *x, int begin, int end, uint8_t *rows, bool out) {
    size_t n = (size_t)(end - begin), row = (size_t)x->head_dim * (size_t)x->kv_value;
    for (int l = 0; l < x->layers; l++)
        for (int h = 0; h < x->kv_heads; h++) {
            e0_kv kv = e0_kv_head(x, l, h);
            rows = move_keys(x, kv.k, begin, end, rows, out);
            rows = move_bytes(kv.v + (size_t)begin * row, rows, n * row, out);
            if (!kv.k_scale) continue;
            rows = move_bytes(kv.k_scale + begin, rows, n * sizeof(float), out);
            rows = move_bytes(kv.v_scale + begin, rows, n * sizeof(float), out);
        }
}

void e0_exec_export_cache(const e0_exec *x, int begin, int end, uint8_t *rows) { move_rows(x, begin, end, rows, true); }

void e0_exec_import_cache(e0_exec *x, int begin, int end, const uint8_t *rows) {
    move_rows(x, begin, end, (uint8_t *)(uintptr_t)rows, false);
}

void e0_exec_discard_cache(e0_exec *x, int from) {
    int tile = (from + E0_KEY_TILE - 1) / E0_KEY_TILE * E0_KEY_TILE;
    size_t row = (size_t)x->head_dim * (size_t)x->kv_value;
    for (int l = 0; l < x->layers; l++)
        for (int h = 0; h < x->kv_heads; h++) {
            e0_kv kv = e0_kv_head(x, l, h);
            uint8_t *both[] = {kv.k, kv.v};
            for (int i = 0; i < 2; i++) {
                uintptr_t begin = ((uintptr_t)both[i] + (size_t)tile * row + 4095) / 4096 * 4096;
                uintptr_t end = ((uintptr_t)both[i] + (size_t)x->positions * row) / 4096 * 4096;
                if (end > begin) e0_pages_discard((void *)begin, end - begin);
            }
        }
}
