// The program: finds the command and calls it. Exit status 0: done, 1: the simulation could not go on, 2: bad input.

#define _DEFAULT_SOURCE // readlink, sigaltstack

#include "cli/commands.h"
#include "core/blas.h"
#include "core/comm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// MPI and PETSc come in only under mpiexec, or when the case asks for them later on.
static int main_start_ranks(pcs_context *ctx, const pcs_arguments *a, bool is_for_one)
{
    pcs_context_set_options(ctx, a->nword, a->words);
    if (!pcs_processes_are_launched()) return PCS_CLI_DONE;
    pcs_status status = pcs_processes_start(ctx);
    if (status == PCS_OK) status = pcs_demand_same(ctx, status, a->hash, "command line");
    if (status == PCS_OK && is_for_one && pcs_context_comm(ctx)->size > 1)
        status = pcs_fail(ctx, PCS_UNSUPPORTED, "'%s' is for one process: start it without mpiexec", a->command);
    if (status == PCS_OK && is_for_one) pcs_context_set_comm(ctx, NULL);
    return status == PCS_OK ? PCS_CLI_DONE : pcs_cli_reject(ctx, status);
}

typedef int command_call(pcs_context *ctx, const pcs_arguments *a);

// Returns what runs a command, NULL if it is a program of its own.
static command_call *main_find(const char *name)
{
    static const struct {
        const char *name;
        command_call *call;
    } calls[] = {
        { "run", pcs_cli_run },     { "statics", pcs_cli_statics }, { "modes", pcs_cli_modes },
        { "check", pcs_cli_check }, { "new", pcs_cli_new },         { "list", pcs_cli_list },
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0) return calls[i].call;
    return NULL;
}

// Replaces this process. Returns only if there is no such program.
static void main_start(const char *program, const char *const *arguments)
{
    execvp(program, (char *const *)arguments);
    if (errno != ENOENT && errno != ENOTDIR) fprintf(stderr, "error: %s: %s\n", program, strerror(errno));
}

// Runs percuss-NAME in place of this process: beside the program, as in the tree where it was built, where it was
// installed, or on PATH. The first of `arguments`, which end with NULL, is replaced by its path. Returns only if there
// is none: with the exit status after a message, or with -1 when no such command is known.
static int main_replace(const char *name, const char **arguments)
{
    static const char *const folders[] = { "", "../libexec/percuss/" };
    char folder[PCS_CASE_PATH / 2], program[PCS_CASE_PATH];
    bool is_plain = name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == '\0';
    if (!is_plain || strlen(name) > 64) return -1;
    arguments[0] = program;
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(folder, '/');
    for (size_t i = 0; slash != NULL && i < sizeof folders / sizeof *folders; i++) {
        slash[1] = '\0';
        snprintf(program, sizeof program, "%s%spercuss-%s", folder, folders[i], name);
        if (access(program, X_OK) == 0) main_start(program, arguments);
    }
    snprintf(program, sizeof program, "percuss-%s", name);
    main_start(program, arguments);
    if (pcs_verb_find(name) == NULL) return -1;
    fprintf(stderr, "error: percuss %s is part of the Python package: install the Debian package python3-percuss\n",
            name);
    return PCS_CLI_BAD_USAGE;
}

// Runs percuss-NAME for `percuss NAME ...`, percuss-NAME --help for `percuss help NAME` and percuss-NAME --complete ...
// for `percuss complete NAME ...`; -1 if there is none.
static int main_run_external(int argc, char **argv, const char **room)
{
    if (argc < 2) return -1;
    bool is_help = argc == 3 && strcmp(argv[1], "help") == 0, is_complete = strcmp(argv[1], "complete") == 0;
    if (is_complete && argc < 4) return -1;
    const char *name = argv[is_help || is_complete ? 2 : 1];
    if (name[0] == '-' || strcmp(name, "help") == 0 || main_find(name) != NULL) return -1;
    for (int i = 2; i < argc; i++) room[i - 1] = argv[i];
    room[argc - 1] = NULL;
    if (is_help) room[1] = "--help";
    if (is_complete) room[1] = "--complete";
    return main_replace(name, room);
}

// Prints all of the help, or the part about one command.
static int main_help(const pcs_arguments *a, const char *name)
{
    const pcs_verb *command = name == NULL ? NULL : pcs_verb_find(name);
    if (name != NULL && command == NULL) return pcs_cli_refuse_command(name);
    bool is_all = name == NULL || strcmp(name, "help") == 0;
    if (a->is_man) pcs_usage_man();
    else pcs_usage_explain(is_all ? NULL : command);
    return PCS_CLI_DONE;
}

static int main_call(const pcs_verb *command, pcs_arguments *a)
{
    char path[PCS_CASE_PATH];
    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return fputs("error: out of memory\n", stderr), PCS_CLI_COULD_NOT_GO_ON;
    int answer = main_start_ranks(ctx, a, command->is_for_one);
    pcs_status status = PCS_OK;
    if (answer == PCS_CLI_DONE && strcmp(command->arguments, "CASE") == 0)
        status = pcs_agree(ctx, pcs_cli_find_case(ctx, &a->subject, path));
    if (status != PCS_OK) answer = pcs_cli_reject(ctx, status);
    if (answer == PCS_CLI_DONE) answer = main_find(command->name)(ctx, a);
    pcs_context_destroy(&ctx);
    return answer;
}

static int main_dispatch(pcs_arguments *a)
{
    bool is_help = a->command != NULL && strcmp(a->command, "help") == 0;
    const pcs_verb *command = a->command == NULL ? NULL : pcs_verb_find(a->command);
    if (a->wants_version && !is_help && !a->wants_help) return pcs_cli_version(), PCS_CLI_DONE;
    if (a->command == NULL && !a->wants_help) return pcs_usage_show(stderr, NULL), PCS_CLI_BAD_USAGE;
    if (a->command != NULL && command == NULL) return pcs_cli_refuse_command(a->command);
    int answer = command == NULL || a->wants_help ? PCS_CLI_DONE : pcs_cli_check_usage(a);
    if (answer != PCS_CLI_DONE) return answer;
    if (a->wants_help || is_help) return main_help(a, is_help ? a->subject : a->command);
    return main_call(command, a);
}

// Closed standard streams would give their numbers to result files, which would then receive messages.
static void main_open_streams(void)
{
    int number;
    do number = open("/dev/null", O_RDWR);
    while (number >= 0 && number <= STDERR_FILENO);
    if (number > STDERR_FILENO) close(number);
}

// Ends at once with a message, by calls that are allowed at any time.
static void main_end(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
    _exit(PCS_CLI_COULD_NOT_GO_ON);
}

// OpenBLAS may allocate buffers for its threads before main begins, and hangs if it cannot. If the address space is
// limited, the program restarts itself once with as many threads as fit into half of it, or ends. This runs before the
// C library has set up the environment. Builds with sanitizers leave it out: they need the complete address space.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { MOST_VARIABLES = 4096 };
static const char *const main_thread_names[] = { "OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS=" };

static bool main_is_named(const char *variable, const char *name)
{
    return strncmp(variable, name, strlen(name)) == 0;
}

// Returns the number of threads that a variable allows, that of all processors if it is not set.
static long main_count_threads(char **variables, const char *name)
{
    for (; *variables != NULL; variables++)
        if (main_is_named(*variables, name)) return strtol(*variables + strlen(name), NULL, 10);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

static void main_look_for_room(int argc, char **argv, char **variables)
{
    static const rlim_t least_stack = 256 << 10; // bytes
    struct rlimit limit;
    static char *kept[MOST_VARIABLES + 3], text[2][64];
    int count = 0;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < least_stack) {
        limit.rlim_cur = least_stack;
        if (setrlimit(RLIMIT_STACK, &limit) != 0) main_end("error: too small a stack: 256 kB are needed (ulimit -s)\n");
    }
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur / PCS_BLAS_BUFFER >= INT_MAX) return;
    int most = limit.rlim_cur < 4 * PCS_BLAS_BUFFER ? 1 : (int)(limit.rlim_cur / PCS_BLAS_BUFFER / 2);
    bool has_room = true;
    for (int i = 0; i < 2; i++) {
        has_room = has_room && main_count_threads(variables, main_thread_names[i]) <= most;
        snprintf(text[i], sizeof text[i], "%s%d", main_thread_names[i], most);
    }
    if (has_room && !pcs_blas_has_room()) main_end("error: out of memory: too little address space (ulimit -v)\n");
    if (has_room) return;
    for (; *variables != NULL && count < MOST_VARIABLES; variables++)
        if (!main_is_named(*variables, main_thread_names[0]) && !main_is_named(*variables, main_thread_names[1]))
            kept[count++] = *variables;
    kept[count++] = text[0];
    kept[count++] = text[1];
    kept[count] = NULL;
    execve("/proc/self/exe", argv, kept); // on failure the threads may find room anyway
}

__attribute__((section(".preinit_array"), used)) static void (*const main_first)(int, char **,
                                                                                 char **) = main_look_for_room;
#endif

// Says that the program has crashed: a case may name a plug-in, whose faults are not the program's. Only calls that a
// signal handler may make.
static void main_tell_crash(int signal_number)
{
    main_end("error: the program crashed, by a fault of its own or of a plug-in that the case names\n");
}

// Installs handlers on a stack of their own, as the stack may have overflowed. Keeps handlers of others (sanitizers).
static void main_watch_crashes(void)
{
    static char stack[1 << 16];
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_handler = main_tell_crash, .sa_flags = SA_ONSTACK }, before;
    if (sigaltstack(&other, NULL) != 0) return;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

int main(int argc, char **argv)
{
    main_open_streams();
    main_watch_crashes();
    size_t room = (size_t)argc + 2;
    const char **texts = pcs_scratch(NULL, room, sizeof *texts);
    if (texts == NULL) return fputs("error: out of memory\n", stderr), PCS_CLI_COULD_NOT_GO_ON;
    pcs_arguments a = { .count = -1, .steps = -1, .time = NAN, .perturb = NAN, .set.text = texts };
    bool is_complete = argc > 1 && strcmp(argv[1], "complete") == 0;
    int answer = main_run_external(argc, argv, texts);
    if (answer < 0 && is_complete) return pcs_scratch_free(texts), pcs_cli_complete(argc - 2, argv + 2);
    if (answer < 0) answer = pcs_cli_parse(argc, argv, &a);
    if (answer == PCS_CLI_DONE) answer = main_dispatch(&a);
    pcs_scratch_free(texts);
    if ((fflush(stdout) != 0 || ferror(stdout)) && answer == PCS_CLI_DONE) {
        fputs("error: the screen output could not be written\n", stderr);
        answer = PCS_CLI_COULD_NOT_GO_ON;
    }
    return answer;
}
