// Feeds the readers of files, and of --set, with what libFuzzer makes up. Each must answer with a status and, when that
// is not PCS_OK, a message. FUZZ_READER names the reader: set, gmsh, table, checkpoint.

#define _POSIX_C_SOURCE 200809L // getpid

#include "build/build.h"
#include "core/text.h"
#include "sim/sim.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char base_case[] = "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 2 } }\n"
                                "elements: { bar: { type: rod, mesh: bar, E: 1, rho: 1, area: 1 } }\n"
                                "scheme: { type: moreau_jean, theta: 0.5 }\n"
                                "time: { step: 0.1, end: 1 }\n";

static char path[64];

static void readers_demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "engine_readers: %s\n", what);
    abort();
}

// The input as assignments of a case, one a line.
static pcs_status readers_set(pcs_context *ctx, const char *text)
{
    pcs_case *c;
    pcs_sim *sim = NULL;
    pcs_status status = pcs_case_parse(ctx, "fuzz", base_case, sizeof base_case - 1, &c);
    while (status == PCS_OK && *text != '\0') {
        char line[512];
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        status = pcs_case_set(c, line);
        text += length + (text[length] == '\n');
    }
    return status == PCS_OK ? pcs_build_sim_of(ctx, &(pcs_source){ .loaded = c }, &sim) : status;
}

static pcs_status readers_gmsh(pcs_context *ctx)
{
    char text[256];
    pcs_case *c;
    pcs_sim *sim = NULL;
    int length = snprintf(text, sizeof text,
                          "mesh: { bar: { type: gmsh, file: %s } }\n"
                          "elements: { bar: { type: rod_3d, mesh: bar, E: 1, rho: 1, area: 1 } }\n"
                          "scheme: { type: moreau_jean, theta: 0.5 }\ntime: { step: 0.1, end: 1 }\n",
                          path);
    PCS_TRY(pcs_case_parse(ctx, "fuzz", text, (size_t)length, &c));
    return pcs_build_sim_of(ctx, &(pcs_source){ .loaded = c }, &sim);
}

// Where the input begins like a checkpoint its sizes and checksum become right, so that what is behind them is reached.
static void readers_mend(uint8_t *bytes, size_t size)
{
    pcs_checkpoint_head head;
    if (size < sizeof head + sizeof(uint64_t) || bytes[0] != 'P') return;
    memcpy(&head, bytes, sizeof head);
    size_t rest = size - sizeof head - sizeof(uint64_t);
    if (head.text_size > rest) head.text_size = rest;
    head.piece_size = rest - head.text_size;
    memcpy(bytes, &head, sizeof head);
    uint64_t sum = pcs_hash(PCS_HASH_START, bytes, size - sizeof sum);
    memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
}

// A simulation goes to the checkpoint and makes a step.
static pcs_status readers_restore(pcs_context *ctx, const pcs_checkpoint_data *data)
{
    pcs_case *c;
    pcs_sim *sim = NULL;
    pcs_archive archive;
    double t;
    PCS_TRY(pcs_checkpoint_time(ctx, data, &t));
    PCS_TRY(pcs_case_parse(ctx, "fuzz", base_case, sizeof base_case - 1, &c));
    PCS_TRY(pcs_build_sim_of(ctx, &(pcs_source){ .loaded = c }, &sim));
    PCS_TRY(pcs_sim_start(sim));
    archive = pcs_checkpoint_reader(sim, data);
    pcs_checkpoint_serialize(sim, &archive);
    PCS_TRY(archive.status);
    return pcs_sim_is_done(sim) ? PCS_OK : pcs_sim_step(sim);
}

static pcs_status readers_checkpoint(pcs_context *ctx)
{
    pcs_checkpoint_data data;
    bool is_there;
    char note[512];
    PCS_TRY(pcs_checkpoint_find(ctx, path, false, &data, &is_there, note));
    pcs_status status = readers_restore(ctx, &data);
    pcs_checkpoint_free(&data);
    return status;
}

static pcs_status readers_file(pcs_context *ctx, const char *reader)
{
    pcs_list list;
    if (strcmp(reader, "gmsh") == 0) return readers_gmsh(ctx);
    if (strcmp(reader, "table") == 0) return pcs_table_read(ctx, path, &list);
    return readers_checkpoint(ctx);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    snprintf(path, sizeof path, "percuss_fuzz_%ld.msh", (long)getpid());
    return 0;
}

static pcs_status readers_call(pcs_context *ctx, const char *reader, const uint8_t *data, size_t size)
{
    if (strcmp(reader, "set") == 0) {
        char text[2048];
        snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1), (const char *)data);
        return readers_set(ctx, text);
    }
    uint8_t *bytes = malloc(size + 1);
    readers_demand(bytes != NULL, "no memory");
    if (size > 0) memcpy(bytes, data, size);
    if (strcmp(reader, "checkpoint") == 0) readers_mend(bytes, size);
    FILE *file = fopen(path, "wb");
    readers_demand(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "no room for the input");
    free(bytes);
    return readers_file(ctx, reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pcs_context *ctx = NULL;
    const char *reader = getenv("FUZZ_READER");
    readers_demand(reader != NULL, "FUZZ_READER is not set");
    if (pcs_context_create(&ctx) != PCS_OK) return 0;
    pcs_status status = readers_call(ctx, reader, data, size);
    readers_demand(status == PCS_OK || pcs_message(ctx)[0] != '\0', "a failure without a message");
    pcs_context_destroy(&ctx);
    remove(path);
    return 0;
}
