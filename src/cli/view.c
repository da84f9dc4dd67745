// A picture of results, percuss view RESULTS -o picture.png, or a movie of all frames, -o movie.mp4: ParaView's Python
// runs the script that lies beside them, which calls ffmpeg for movies.

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

static bool view_ends_with(const char *name, const char *const *endings)
{
    size_t length = strlen(name);
    bool is_found = false;
    for (int i = 0; endings[i] != NULL; i++) {
        size_t own = strlen(endings[i]);
        is_found = is_found || (length > own && strcmp(name + length - own, endings[i]) == 0);
    }
    return is_found;
}

static const char *const view_pictures[] = { ".png", NULL }, *const view_movies[] = { ".mp4", ".webm", ".gif", NULL };

// Without a screen one is made up.
static int view_call(const char *script, const pcs_arguments *a)
{
    static const char *const screen[] = { "xvfb-run", "-a", "-s", "-screen 0 1280x1024x24 -noreset" };
    enum { SCREEN_WORDS = sizeof screen / sizeof *screen };
    char time[NUMBER_ROOM] = "peak";
    if (!isnan(a->time)) snprintf(time, sizeof time, "%.17g", a->time);
    if (view_ends_with(a->directory, view_movies)) snprintf(time, sizeof time, "all");
    // The field may be NULL, which ends the list: pvpython takes no empty words.
    const char *words[] = { screen[0], screen[1],    screen[2], screen[3], "pvpython",
                            script,    a->directory, time,      a->field,  NULL };
    bool has_screen = getenv("DISPLAY") != NULL || !view_has_program(screen[0]);
    return view_start(words + (has_screen ? SCREEN_WORDS : 0));
}

// What draws must be there; without ffmpeg a movie would fail after all its pictures are drawn.
static int view_demand_programs(bool is_movie)
{
    const char *missing = NULL;
    if (is_movie && !view_has_program("ffmpeg"))
        missing = "ffmpeg, which makes the movie, is missing: install the package ffmpeg";
    if (!view_has_program("pvpython"))
        missing = "pvpython, which draws the picture, is missing: install the package python3-paraview";
    if (missing != NULL) fprintf(stderr, "error: %s\n", missing);
    return missing == NULL ? PCS_CLI_DONE : PCS_CLI_COULD_NOT_GO_ON;
}

int pcs_cli_view(pcs_context *ctx, const pcs_arguments *a)
{
    (void)ctx;
    char script[PATH_ROOM];
    bool is_movie = a->directory != NULL && view_ends_with(a->directory, view_movies);
    if (a->directory == NULL || (!is_movie && !view_ends_with(a->directory, view_pictures)))
        return pcs_cli_refuse(a->command, "view needs -o PICTURE.png or -o MOVIE.mp4, .webm or .gif, has",
                              a->directory == NULL ? "" : a->directory, NULL);
    if (is_movie && (a->wants_peak || !isnan(a->time)))
        return pcs_cli_refuse(a->command, "--time is of pictures, a movie shows all frames:", a->directory, NULL);
    if (snprintf(script, sizeof script, "%s/view.py", a->subject) >= PATH_ROOM || access(script, R_OK) != 0) {
        fprintf(stderr, "error: '%s' holds no results: there is no view.py\n", a->subject);
        return PCS_CLI_BAD_USAGE;
    }
    if (view_demand_programs(is_movie) != PCS_CLI_DONE) return PCS_CLI_COULD_NOT_GO_ON;
    unlink(a->directory); // so that a picture that is there is the one asked for
    int answer = view_call(script, a);
    if (answer == PCS_CLI_DONE && access(a->directory, F_OK) == 0) return PCS_CLI_DONE;
    fprintf(stderr, "error: pvpython has made no '%s'\n", a->directory);
    return PCS_CLI_COULD_NOT_GO_ON;
}
