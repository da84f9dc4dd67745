// Calls gnuplot in a process of its own.

#define _POSIX_C_SOURCE 200809L // fork, pipe

#include "plot/gnuplot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_ROOM = 2048, NAME_ROOM = 4096 };

// The child becomes gnuplot; what it says goes to the pipe. Ending with 0 and a word of its own tells that it cannot.
static void run_become(const char *folder, const char *script, const int words[2])
{
    static const char missing[] = "?missing", no_folder[] = "?folder";
    char program[] = "gnuplot", name[NAME_ROOM];
    snprintf(name, sizeof name, "./%s", script);
    char *const arguments[] = { program, name, NULL };
    dup2(words[1], STDERR_FILENO);
    dup2(words[1], STDOUT_FILENO);
    close(words[0]);
    close(words[1]);
    bool is_there = chdir(folder) == 0;
    if (is_there) execvp(program, arguments);
    const char *word = is_there ? missing : no_folder;
    if (write(STDERR_FILENO, word, strlen(word)) < 0) _exit(0);
    _exit(0);
}

// All that comes through the pipe; what has no room is read and forgotten.
static void run_listen(int pipe_end, char words[WORDS_ROOM])
{
    char block[512];
    size_t used = 0;
    for (;;) {
        ssize_t count = read(pipe_end, block, sizeof block);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        size_t fits = (size_t)count < WORDS_ROOM - 1 - used ? (size_t)count : WORDS_ROOM - 1 - used;
        memcpy(words + used, block, fits);
        used += fits;
    }
    words[used] = '\0';
}

// One line of what gnuplot said: the first one with an error.
static const char *run_pick(char words[WORDS_ROOM])
{
    char *line = words, *found = NULL;
    for (; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        while (*line == '\n' || *line == ' ' || *line == '^') line++;
        if (strncmp(line, "warning", 7) != 0 && strstr(line, "line ") != NULL && found == NULL) found = line;
        if (*line == '\0') break;
    }
    if (found == NULL) found = words;
    found[strcspn(found, "\n")] = '\0';
    return found;
}

pcs_status pcs_gnuplot_run(pcs_context *ctx, const char *folder, const char *script)
{
    int ends[2], status = 0;
    char words[WORDS_ROOM];
    if (pipe(ends) != 0) return pcs_fail(ctx, PCS_FAILED, "no pipe to gnuplot: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) run_become(folder, script, ends);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return pcs_fail(ctx, PCS_FAILED, "no process for gnuplot: %s", strerror(errno));
    }
    run_listen(ends[0], words);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (strcmp(words, "?missing") == 0)
        return pcs_fail(
            ctx, PCS_FAILED,
            "gnuplot is not there: install the package gnuplot-nox (apt-get install gnuplot-nox); the script "
            "%s/%s is written",
            folder, script);
    if (strcmp(words, "?folder") == 0) return pcs_fail(ctx, PCS_FAILED, "cannot enter the folder '%s'", folder);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return PCS_OK;
    return pcs_fail(ctx, PCS_FAILED, "gnuplot could not draw %s/%s: %s", folder, script, run_pick(words));
}
