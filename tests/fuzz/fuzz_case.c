// Feeds damaged case files to the reader and the builder. Whatever comes in, they must answer with a status and, when
// that is not PCS_OK, a message; a case that is built must be written and read again.
//
//   fuzz_case SECONDS CASE...   mutates the cases, always in the same way, until the time is over
//
// Built with -fsanitize=fuzzer -DFUZZ_ENGINE the same function serves libFuzzer.

#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "build/build.h"
#include "core/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The library's allocator with a budget: a mutated number of elements must not fill the machine.
enum { HEADER = 64, BUDGET = 64 << 20 };

static size_t bytes_in_use;
static long nbuilt; // inputs that were good cases after all

void *pcs_alloc(size_t bytes)
{
    if (bytes > BUDGET || bytes_in_use + bytes > BUDGET) return NULL;
    char *block = malloc(bytes + HEADER);
    if (block == NULL) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    bytes_in_use += bytes;
    return block + HEADER;
}

void pcs_free(void *memory)
{
    if (memory == NULL) return;
    char *block = (char *)memory - HEADER;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    bytes_in_use -= bytes;
    free(block);
}

void *pcs_realloc(void *old, size_t bytes)
{
    void *fresh = pcs_alloc(bytes);
    if (old == NULL || fresh == NULL) return fresh;
    size_t before;
    memcpy(&before, (char *)old - HEADER, sizeof before);
    memcpy(fresh, old, before < bytes ? before : bytes);
    pcs_free(old);
    return fresh;
}

static void fuzz_demand(bool holds, const char *what, const uint8_t *data, size_t size)
{
    if (holds) return;
    fprintf(stderr, "fuzz_case: %s; the input was:\n", what);
    fwrite(data, 1, size, stderr);
    abort();
}

// What was built is written and must be read and built again.
static void fuzz_round_trip(pcs_sim *sim, const uint8_t *data, size_t size)
{
    static const char path[] = "fuzz_case.resolved.yaml";
    pcs_context *ctx = NULL;
    pcs_sim *again = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return;
    pcs_status status = pcs_case_write(sim->input, path);
    fuzz_demand(status == PCS_OK, "a case was built but not written", data, size);
    status = pcs_build_sim_from(ctx, path, 0, NULL, &again);
    remove(path);
    if (status != PCS_OK && status != PCS_NO_MEMORY) fprintf(stderr, "%s\n", pcs_message(ctx));
    fuzz_demand(status == PCS_OK || status == PCS_NO_MEMORY, "a written case was not built again", data, size);
    if (status == PCS_OK) {
        fuzz_demand(again->nstep == sim->nstep && again->step_size == sim->step_size &&
                        again->system->nv == sim->system->nv,
                    "a written case differs", data, size);
    }
    pcs_context_destroy(&ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pcs_context *ctx = NULL;
    pcs_case *c = NULL;
    pcs_sim *sim = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return 0;
    pcs_status status = pcs_case_parse(ctx, "fuzz", (const char *)data, size, &c);
    if (status == PCS_OK) status = pcs_case_set(c, "title=fuzz");
    if (status == PCS_OK) status = pcs_build_sim(ctx, c, &sim);
    fuzz_demand(status == PCS_OK || pcs_message(ctx)[0] != '\0', "a failure without a message", data, size);
    fuzz_demand((status == PCS_OK) == (sim != NULL), "status and result disagree", data, size);
    if (status == PCS_OK) fuzz_round_trip(sim, data, size);
    nbuilt += status == PCS_OK;
    pcs_context_destroy(&ctx);
    fuzz_demand(bytes_in_use == 0, "memory was not given back", data, size);
    return 0;
}

#ifndef FUZZ_ENGINE

enum { LONGEST = 1 << 16 };

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static size_t fuzz_random(size_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state >> 11) % below;
}

// Pieces that mean something to the reader.
static const char *const pieces[] = {
    "0",
    "-1",
    "1e999",
    ".nan",
    "1e-400",
    "2147483648",
    "99999999999999999999",
    "1e3",
    "true",
    "auto",
    "false",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "- ",
    "\n",
    "\t",
    "  ",
    "&a ",
    "*a",
    "!!int ",
    "---\n",
    "'",
    "\"",
    "#",
    "|\n",
    "? ",
    "%YAML 1.1\n",
    "\xff",
    "\xef\xbb\xbf",
    "\\0",
    "bar",
    "bar.start",
    "rod",
    "line",
    "half_explicit",
    "moreau_jean",
    "theta: 0.5",
    "rho_inf: 1",
    "set: bar",
    "points: all",
    "schur",
    "dense",
    "type: force",
    "fix: [x]",
    "item: 3",
    "stress",
    "[[0, 1], [1, 2]]",
    "${",
    "}",
    "${i}",
    "${n + 1}",
    "${1/0}",
    "${sqrt(2)*(",
    "parameters: { n: 3 }\n",
    "repeat: { count: 3 }, ",
    "repeat: { count: 100000, shift: [0, 1, 0] }, ",
    "each: ",
    "include: case.yaml\n",
    "expression: sin(t)",
    "sine: { frequency: 2 }",
    "pulse: { duration: 1, shape: half_sine }",
    "csv: a.csv",
    "{ from: [0, 0, 0], to: [1, 0, 0] }",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
};

static size_t fuzz_insert(char *text, size_t size, size_t at, const char *piece, size_t length)
{
    if (size + length > LONGEST) return size;
    memmove(text + at + length, text + at, size - at);
    memcpy(text + at, piece, length);
    return size + length;
}

static size_t fuzz_remove(char *text, size_t size, size_t at, size_t length)
{
    if (length > size - at) length = size - at;
    memmove(text + at, text + at + length, size - at - length);
    return size - length;
}

// End of the word, number or sign at a place.
static size_t fuzz_word_end(const char *text, size_t size, size_t at)
{
    size_t end = at;
    while (end < size && strchr(" ,:[]{}\n", text[end]) == NULL) end++;
    return end == at ? at + 1 : end;
}

static size_t fuzz_mutate(char *text, size_t size)
{
    size_t at = fuzz_random(size + 1), other = fuzz_random(size + 1);
    const char *piece = pieces[fuzz_random(sizeof pieces / sizeof *pieces)];
    char copy[256];
    switch (fuzz_random(6)) {
    case 0: // a word becomes a piece
        if (at < size) size = fuzz_remove(text, size, at, fuzz_word_end(text, size, at) - at);
        return fuzz_insert(text, size, at, piece, strlen(piece));
    case 1: return fuzz_insert(text, size, at, piece, strlen(piece));
    case 2: return fuzz_remove(text, size, at, 1 + fuzz_random(20));
    case 3: // a stretch is repeated elsewhere
    {
        size_t length = fuzz_random(sizeof copy);
        if (length > size - at) length = size - at;
        memcpy(copy, text + at, length);
        return fuzz_insert(text, size, other, copy, length);
    }
    case 4: // one byte
        if (at < size) text[at] = (char)fuzz_random(256);
        return size;
    default: // a digit
        for (size_t i = at; i < size; i++) {
            if (text[i] < '0' || text[i] > '9') continue;
            text[i] = (char)('0' + fuzz_random(10));
            break;
        }
        return size;
    }
}

static size_t fuzz_load(const char *path, char *text)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    size_t size = fread(text, 1, LONGEST, file);
    fclose(file);
    return size;
}

static double fuzz_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    static char text[LONGEST];
    if (argc < 3) return fprintf(stderr, "usage: fuzz_case SECONDS CASE.yaml...\n"), 2;
    double start = fuzz_clock(), seconds = atof(argv[1]);
    long count = 0;
    while (fuzz_clock() - start < seconds) {
        const char *path = argv[2 + fuzz_random((size_t)argc - 2)];
        size_t size = fuzz_load(path, text);
        if (size == 0) return fprintf(stderr, "fuzz_case: cannot read %s\n", path), 2;
        for (size_t n = count == 0 ? 0 : 1 + fuzz_random(6); n > 0; n--) size = fuzz_mutate(text, size);
        LLVMFuzzerTestOneInput((const uint8_t *)text, size);
        count++;
    }
    printf("fuzz_case: %ld inputs in %.0f s, every one answered, %ld of them built and read back\n", count,
           fuzz_clock() - start, nbuilt);
    return 0;
}

#endif
