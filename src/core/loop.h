// A promise to the compiler about the loop that follows: the arrays it writes do not overlap those it reads, so
// it may work on several entries at once. (`restrict` on local pointers is not taken into account by gcc.)

#ifndef PCS_CORE_LOOP_H
#define PCS_CORE_LOOP_H

#if defined(__clang__)
#define PCS_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define PCS_INDEPENDENT _Pragma("GCC ivdep")
#else
#define PCS_INDEPENDENT
#endif

#endif
