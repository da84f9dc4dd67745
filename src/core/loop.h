// Defines hints to the compiler on loops and functions: independence of iterations, inlining, vector width.
//
// PCS_INDEPENDENT is a promise about the loop that follows: the arrays it writes do not overlap those it reads, so
// it may work on several entries at once. (`restrict` on local pointers is not taken into account by gcc.)

#ifndef PCS_CORE_LOOP_H
#define PCS_CORE_LOOP_H

// Rounds n up to whole vectors of four doubles. Memory of a context reaches that far, so that a loop over independent
// entries needs no remainder; entries behind the last one are never read.
static inline int pcs_whole_vectors(int n)
{
    return (n + 3) / 4 * 4;
}

// Marks a function that a step of a small model hardly ever calls: not inlined, so that its caller saves no registers.
#if defined(__GNUC__)
#define PCS_APART __attribute__((noinline))
#else
#define PCS_APART
#endif

#if defined(__clang__)
#define PCS_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define PCS_INDEPENDENT _Pragma("GCC ivdep")
#else
#define PCS_INDEPENDENT
#endif

// Before a function whose loops decide how fast a step is: it is compiled a second time for vectors of four doubles,
// and which one serves is found when the program starts. Both give the same bits: they add the same numbers in the same
// order, and none of them fuses a multiplication with an addition. Sanitizers are not ready by then.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__FMA__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PCS_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define PCS_WIDE
#endif

#endif
