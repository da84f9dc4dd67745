// Time and memory of this process as the benchmarks measure them. Wants _POSIX_C_SOURCE for the clock.

#ifndef TESTS_BENCH_CLOCK_H
#define TESTS_BENCH_CLOCK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Seconds since some moment in the past, never set back.
static inline double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Seconds that this process has had a processor: other load on the machine does not count.
static inline double bench_processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A line of /proc/self/status in bytes ("VmRSS:" resident now, "VmHWM:" at most); 0 where there is no such file.
static inline double bench_status_bytes(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    double bytes = 0.0;
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) bytes = 1024.0 * strtod(line + strlen(key), NULL);
    }
    if (file != NULL) fclose(file);
    return bytes;
}

// `count` zeroed doubles; a benchmark without memory has nothing to say and ends.
static inline double *bench_vector(int count)
{
    double *x = aligned_alloc(64, ((size_t)count * sizeof *x + 63) / 64 * 64);
    if (x == NULL) {
        fprintf(stderr, "error: no memory for %d numbers\n", count);
        exit(1);
    }
    memset(x, 0, (size_t)count * sizeof *x);
    return x;
}

#endif
