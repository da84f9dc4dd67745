// fuzz_case.c for libFuzzer.

#define FUZZ_ENGINE
#include "fuzz_case.c"
