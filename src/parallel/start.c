// Starts MPI and PETSc with the user's options, and finds out which of them nobody has asked for.

#include "parallel/parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX_ROOM = 256 };

// Options of a solver start like this; they may stand before all matrices or, with a prefix, before one.
static const char *const start_families[] = { "-ksp_", "-pc_", "-sub_", "-mat_", "-mg_", NULL };
static const char *const start_prefixes[] = { "mass_", "iteration_", NULL };
// PETSc asks for these when it ends.
static const char *const start_late[] = { "-options_left", "-log_view", "-malloc_dump", "-memory_view", NULL };

// Limits of iterations: never reported as unused, though nothing reads them where a factor solves exactly.
static const char *const start_limits[] = { "-ksp_rtol",      "-ksp_atol",           "-ksp_max_it",
                                            "-mass_ksp_rtol", "-iteration_ksp_rtol", NULL };

static bool start_is_one_of(const char *const *names, const char *text)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], text) == 0) return true;
    return false;
}

static bool start_is_of_solver(const char *text)
{
    for (int i = 0; start_families[i] != NULL; i++)
        if (strncmp(text, start_families[i], strlen(start_families[i])) == 0) return true;
    return false;
}

// Returns true if a word starts with a sign and a letter and so names an option; -1e-3 is a value.
static bool start_is_name(const char *word)
{
    return word[0] == '-' && ((word[1] >= 'a' && word[1] <= 'z') || (word[1] >= 'A' && word[1] <= 'Z'));
}

static const char *start_value(const pcs_parallel *self, int i)
{
    return i + 1 < self->count && !start_is_name(self->option[i + 1]) ? self->option[i + 1] : NULL;
}

PetscErrorCode pcs_parallel_spread_options(const pcs_parallel *self, const char *prefix)
{
    char name[PREFIX_ROOM];
    PetscBool is_given;
    for (int i = 0; i < self->count; i++) {
        if (!start_is_of_solver(self->option[i])) continue;
        snprintf(name, sizeof name, "-%s%s", prefix, self->option[i] + 1);
        PetscCall(PetscOptionsHasName(NULL, NULL, name, &is_given));
        if (!is_given) PetscCall(PetscOptionsSetValue(NULL, name, start_value(self, i)));
    }
    return 0;
}

static bool start_is_used(const char *name)
{
    char text[PREFIX_ROOM];
    PetscBool is_used = PETSC_FALSE;
    if (start_is_one_of(start_late, name) || start_is_one_of(start_limits, name)) return true;
    // PETSc wants names without the sign here.
    if (PetscOptionsUsed(NULL, name + 1, &is_used) == 0 && is_used) return true;
    for (int k = 0; start_prefixes[k] != NULL; k++) {
        snprintf(text, sizeof text, "%s%s", start_prefixes[k], name + 1);
        if (PetscOptionsUsed(NULL, text, &is_used) == 0 && is_used) return true;
    }
    return false;
}

void pcs_parallel_unused_options(const pcs_comm *comm, size_t size, char *text)
{
    const pcs_parallel *self = comm->data;
    PetscBool unused;
    text[0] = '\0';
    for (int i = 0; i < self->count; i++) {
        const char *word = self->option[i];
        if (!start_is_name(word)) continue;
        if (start_is_used(word)) {
            (void)PetscOptionsHasName(NULL, NULL, word, &unused); // so that -options_left does not name it
            continue;
        }
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ", word);
    }
}

// Stores the message of the place where the error arose instead of printing a trace.
static PetscErrorCode start_note_error(MPI_Comm comm, int line, const char *function, const char *file,
                                       PetscErrorCode code, PetscErrorType type, const char *message, void *object)
{
    pcs_parallel *self = object;
    (void)comm, (void)line, (void)function, (void)file;
    if (type == PETSC_ERROR_INITIAL) snprintf(self->fault, sizeof self->fault, "%s", message == NULL ? "" : message);
    // One line: what comes after it are hints for programmers.
    self->fault[strcspn(self->fault, "\n")] = '\0';
    return code;
}

static void start_end_petsc(void)
{
    PetscBool is_done = PETSC_FALSE;
    if (PetscFinalized(&is_done) == 0 && !is_done) (void)PetscFinalize();
}

static pcs_status start_petsc(pcs_context *ctx, int count, const char *const *options)
{
    PetscBool is_running = PETSC_FALSE;
    if (PetscInitialized(&is_running) != 0) return pcs_fail(ctx, PCS_FAILED, "PETSc does not answer");
    char **argv;
    PCS_TAKE(ctx, argv, count + 2, "options of PETSc");
    argv[0] = pcs_take_text(ctx, "percuss");
    if (argv[0] == NULL) return PCS_NO_MEMORY;
    int argc = count + 1;
    for (int i = 0; i < count; i++) {
        argv[i + 1] = pcs_take_text(ctx, options[i]);
        if (argv[i + 1] == NULL) return PCS_NO_MEMORY;
    }
    if (is_running) {
        bool is_done = PetscOptionsClear(NULL) == 0 && PetscOptionsInsert(NULL, &argc, &argv, NULL) == 0;
        return is_done ? PCS_OK : pcs_fail(ctx, PCS_FAILED, "PETSc does not take the options");
    }
    // Signals belong to the program: the first one ends the run after the present step.
    if (PetscInitialize(&argc, &argv, NULL, NULL) != 0 || PetscPopSignalHandler() != 0)
        return pcs_fail(ctx, PCS_FAILED, "PETSc could not be started");
    if (atexit(start_end_petsc) != 0) return pcs_fail(ctx, PCS_FAILED, "the end of PETSc could not be arranged");
    return PCS_OK;
}

static void start_release(void *object)
{
    pcs_parallel *self = object;
    (void)PetscPopErrorHandler();
    MPI_Comm_free(&self->world);
    MPI_Comm_free(&self->side);
}

static pcs_status start_check_words(pcs_context *ctx, int count, const char *const *options)
{
    for (int i = 0; i < count; i++)
        if (!start_is_name(options[i]) && (i == 0 || !start_is_name(options[i - 1])))
            return pcs_fail(ctx, PCS_BAD_INPUT, "'%s' is no option of PETSc: options start with '-'", options[i]);
    return PCS_OK;
}

pcs_status pcs_parallel_start(pcs_context *ctx, const char *version, int count, const char *const *options)
{
    if (strcmp(version, PERCUSS_VERSION) != 0)
        return pcs_fail(ctx, PCS_UNSUPPORTED, "libpercuss_petsc.so is of version %s, the program of version %s",
                        PERCUSS_VERSION, version);
    PCS_TRY(start_petsc(ctx, count, options));
    pcs_parallel *self;
    PCS_TAKE(ctx, self, 1, "the communicator");
    PCS_TAKE(ctx, self->option, count, "options of PETSc");
    for (int i = 0; i < count; i++) {
        self->option[i] = pcs_take_text(ctx, options[i]);
        if (self->option[i] == NULL) return PCS_NO_MEMORY;
    }
    self->count = count;
    MPI_Comm_dup(PETSC_COMM_WORLD, &self->world);
    MPI_Comm_dup(PETSC_COMM_WORLD, &self->side);
    self->comm = (pcs_comm){ .sum = pcs_parallel_sum,
                             .max = pcs_parallel_max,
                             .gather = pcs_parallel_gather,
                             .plan = pcs_parallel_plan,
                             .collect = pcs_parallel_collect,
                             .plan_spread = pcs_parallel_plan_spread,
                             .plan_copies = pcs_parallel_plan_copies,
                             .return_copies = pcs_parallel_return_copies,
                             .take_copies = pcs_parallel_take_copies,
                             .spread = pcs_parallel_spread,
                             .exchange = pcs_parallel_exchange,
                             .agree = pcs_parallel_agree,
                             .partition = pcs_parallel_partition,
                             .unused_options = pcs_parallel_unused_options,
                             .solver = &pcs_parallel_krylov,
                             .data = self };
    MPI_Comm_rank(self->world, &self->comm.rank);
    MPI_Comm_size(self->world, &self->comm.size);
    if (PetscPushErrorHandler(start_note_error, self) != 0) return pcs_fail(ctx, PCS_FAILED, "PETSc does not answer");
    PCS_TRY(pcs_defer(ctx, start_release, self));
    pcs_context_set_comm(ctx, &self->comm);
    return start_check_words(ctx, count, options); // now that one rank can speak for all
}

pcs_status pcs_parallel_fault(pcs_context *ctx, PetscErrorCode code, pcs_status status, const char *during)
{
    const pcs_parallel *self = pcs_context_comm(ctx)->data;
    const char *general = NULL;
    if (code == PETSC_ERR_MEM) status = PCS_NO_MEMORY;
    if (code == PETSC_ERR_ARG_UNKNOWN_TYPE || code == PETSC_ERR_USER_INPUT || code == PETSC_ERR_MISSING_FACTOR ||
        code == PETSC_ERR_ARG_OUTOFRANGE)
        status = PCS_BAD_INPUT;
    (void)PetscErrorMessage(code, &general, NULL);
    if (general == NULL) general = "unknown error";
    return pcs_fail(ctx, status, "PETSc, during the %s: %s", during, self->fault[0] != '\0' ? self->fault : general);
}
