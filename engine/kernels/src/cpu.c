/* Which instruction sets this processor and system allow: from CPUID and XGETBV (Intel SDM vol. 2A), on ARM
 * from the system. */
#include "e0.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

static uint64_t enabled_states(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

int e0_cpu_has(int wanted) {
    unsigned a, b, c, d, f1c, f7b, f7c, f71a = 0;
    if (!__get_cpuid(1, &a, &b, &f1c, &d) || !(f1c >> 27 & 1)) return 0; /* OSXSAVE */
    if (!__get_cpuid_count(7, 0, &a, &f7b, &f7c, &d)) return 0;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) f71a = a;
    uint64_t states = enabled_states();
    int avx2 = (states & 6) == 6 && (f1c >> 12 & 1) && (f1c >> 29 & 1) && (f7b >> 5 & 1); /* FMA, F16C, AVX2 */
    unsigned f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    int avx512 = avx2 && (states & 0xe6) == 0xe6 && (f7b & f_dq_bw_vl) == f_dq_bw_vl && (f7c >> 11 & 1); /* VNNI */
    return wanted == E0_CPU_AVX2 ? avx2 : wanted == E0_CPU_AVXVNNI ? avx2 && (f71a >> 4 & 1) : avx512;
}
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
int e0_cpu_has(int wanted) {
    int dot = getauxval(AT_HWCAP) >> 20 & 1; /* HWCAP_ASIMDDP, HWCAP2_I8MM */
    return wanted == E0_CPU_DOT ? dot : wanted == E0_CPU_I8MM ? dot && (getauxval(AT_HWCAP2) >> 13 & 1) : 0;
}
#elif defined(__aarch64__) && defined(_WIN32)
#include <windows.h>
int e0_cpu_has(int wanted) { /* PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE, PF_ARM_V82_I8MM_INSTRUCTIONS_AVAILABLE */
    int dot = IsProcessorFeaturePresent(43);
    return wanted == E0_CPU_DOT ? dot : wanted == E0_CPU_I8MM ? dot && IsProcessorFeaturePresent(66) : 0;
}
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
int e0_cpu_has(int wanted) {
    int i8mm = 0;
    size_t size = sizeof i8mm;
    if (wanted == E0_CPU_I8MM && sysctlbyname("hw.optional.arm.FEAT_I8MM", &i8mm, &size, NULL, 0)) return 0;
    return wanted == E0_CPU_DOT || i8mm; /* every Apple silicon has dot products */
}
#else
int e0_cpu_has(int wanted) { return (void)wanted, 0; }
#endif

const e0_kernels *e0_pick_kernels(const char *name) {
    const e0_kernels *all[] = {e0_kernels_avx512(), e0_kernels_avxvnni(), e0_kernels_avx2(),
                               e0_kernels_neon_i8mm(), e0_kernels_neon(), e0_kernels_scalar()};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && (strcmp(name, "auto") == 0 || strcmp(name, all[i]->name) == 0)) return all[i];
    return NULL;
}
