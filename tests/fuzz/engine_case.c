// Feeds damaged case files to the reader and the builder. Whatever comes in, they must answer with a status and, when
// that is not PCS_OK, a message; a case that is built must be written and read again.
// Inputs are those of libFuzzer.

#include "build/build.h"
#include "core/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The library's allocator with a budget: a mutated number of elements must not fill the machine.
enum { HEADER = 64, BUDGET = 64 << 20 };

static size_t bytes_in_use;

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
    fprintf(stderr, "engine_case: %s; the input was:\n", what);
    fwrite(data, 1, size, stderr);
    abort();
}

// What was built is written and must be read and built again.
static void fuzz_round_trip(pcs_sim *sim, const uint8_t *data, size_t size)
{
    static const char path[] = "engine_case.resolved.yaml";
    pcs_context *ctx = NULL;
    pcs_sim *again = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return;
    char *text;
    pcs_status status = pcs_case_dump(sim->input, false, &text);
    fuzz_demand(status == PCS_OK, "a case was built but not written", data, size);
    status = pcs_build_sim_of(ctx, &(pcs_source){ .path = path, .text = text }, &again);
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
    if (status == PCS_OK) status = pcs_build_sim_of(ctx, &(pcs_source){ .loaded = c }, &sim);
    fuzz_demand(status == PCS_OK || pcs_message(ctx)[0] != '\0', "a failure without a message", data, size);
    fuzz_demand((status == PCS_OK) == (sim != NULL), "status and result disagree", data, size);
    if (status == PCS_OK) fuzz_round_trip(sim, data, size);
    pcs_context_destroy(&ctx);
    fuzz_demand(bytes_in_use == 0, "memory was not given back", data, size);
    return 0;
}
