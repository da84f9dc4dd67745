// A picture of results: percuss view RESULTS -o picture.png. ParaView's Python runs the script that lies beside them.

#define _POSIX_C_SOURCE 200809L // access, fork

#include "cli/commands.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, NUMBER_ROOM = 32 };

// Is there a program of this name in PATH?
static bool view_has_program(const char *name)
{
    const char *path = getenv("PATH");
    char text[PATH_ROOM];
    bool is_found = false;
    while (path != NULL && *path != '\0' && !is_found) {
        size_t length = strcspn(path, ":");
        int used = snprintf(text, sizeof text, "%.*s/%s", (int)length, path, name);
        is_found = used < PATH_ROOM && access(text, X_OK) == 0;
        path += length + (path[length] == ':');
    }
    return is_found;
}

static int view_wait(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PCS_CLI_DONE : PCS_CLI_COULD_NOT_GO_ON;
}

static int view_start(const char *const *words)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execvp(words[0], (char *const *)words); // which changes nothing of them
        _exit(127);
    }
    if (child > 0) return view_wait(child);
    fprintf(stderr, "error: cannot start %s: %s\n", words[0], strerror(errno));
    return PCS_CLI_COULD_NOT_GO_ON;
}

static bool view_is_picture(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".png") == 0;
}

// Without a screen one is made up.
static int view_call(const char *script, const pcs_arguments *a)
{
    static const char *const screen[] = { "xvfb-run", "-a", "-s", "-screen 0 1280x1024x24 -noreset" };
    enum { SCREEN_WORDS = sizeof screen / sizeof *screen };
    char time[NUMBER_ROOM] = "peak";
    if (!isnan(a->time)) snprintf(time, sizeof time, "%.17g", a->time);
    // The field may be NULL, which ends the list: pvpython takes no empty words.
    const char *words[] = { screen[0], screen[1],    screen[2], screen[3], "pvpython",
                            script,    a->directory, time,      a->field,  NULL };
    bool has_screen = getenv("DISPLAY") != NULL || !view_has_program(screen[0]);
    return view_start(words + (has_screen ? SCREEN_WORDS : 0));
}

int pcs_cli_view(pcs_context *ctx, const pcs_arguments *a)
{
    (void)ctx;
    char script[PATH_ROOM];
    if (a->directory == NULL || !view_is_picture(a->directory))
        return pcs_cli_refuse("view needs -o PICTURE.png, has", a->directory == NULL ? "" : a->directory, NULL);
    if (snprintf(script, sizeof script, "%s/view.py", a->subject) >= PATH_ROOM || access(script, R_OK) != 0) {
        fprintf(stderr, "error: '%s' holds no results: there is no view.py\n", a->subject);
        return PCS_CLI_BAD_USAGE;
    }
    if (!view_has_program("pvpython")) {
        fputs("error: pvpython, which draws the picture, is missing: install the package python3-paraview\n", stderr);
        return PCS_CLI_COULD_NOT_GO_ON;
    }
    unlink(a->directory); // so that a picture that is there is the one asked for
    int answer = view_call(script, a);
    if (answer == PCS_CLI_DONE && access(a->directory, F_OK) == 0) return PCS_CLI_DONE;
    fprintf(stderr, "error: pvpython has made no '%s'\n", a->directory);
    return PCS_CLI_COULD_NOT_GO_ON;
}
