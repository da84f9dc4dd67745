// The page of the manual, in roff, from the usage and the help: percuss help --man.

#include "cli/commands.h"
#include "cli/usage.h"
#include "percuss.h"

#include <stdio.h>
#include <string.h>

// Text of one line; a hyphen that someone may want to copy is a minus sign to roff.
static void man_put(const char *text, size_t length)
{
    if (length > 0 && (text[0] == '.' || text[0] == '\'')) fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\') fputs("\\e", stdout);
        else if (text[i] == '"') fputs("\\(dq", stdout);
        else if (text[i] == '-') fputs("\\-", stdout);
        else putchar(text[i]);
    }
    putchar('\n');
}

// A paragraph whose lines were broken for the screen.
static void man_fill(const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        text += strspn(text, " ");
        size_t line = strcspn(text, "\n");
        if (text + line > end) line = (size_t)(end - text);
        if (line > 0) man_put(text, line);
        text += line + (text[line] == '\n');
    }
}

static void man_entries(const char *text)
{
    pcs_usage_entry entry;
    while (pcs_usage_help(&text, &entry)) {
        printf(".TP\n.B ");
        man_put(entry.term, entry.nterm);
        man_fill(entry.text, entry.ntext);
    }
}

// What stands at the margin of a text.
static void man_paragraphs(const char *text)
{
    while (*text != '\0') {
        size_t line = strcspn(text, "\n");
        if (line > 0 && text[0] != ' ') man_put(text, line);
        text += line + (text[line] == '\n');
    }
}

static void man_synopsis(void)
{
    puts(".nf");
    for (const char *text = pcs_cli_usage; *text != '\0';) {
        size_t margin = strncmp(text, "usage: ", 7) == 0 ? 7 : strspn(text, " "), line = strcspn(text, "\n");
        if (strncmp(text + margin, "percuss", 7) != 0) fputs("    ", stdout);
        man_put(text + margin, line - margin);
        text += line + (text[line] == '\n');
    }
    puts(".fi");
}

void pcs_cli_man(void)
{
    printf(".TH PERCUSS 1 \"\" \"Percuss %s\" \"User Commands\"\n", percuss_version());
    puts(".SH NAME\npercuss \\- flexible bodies in contact, by nonsmooth time integration\n.SH SYNOPSIS");
    man_synopsis();
    puts(".SH DESCRIPTION");
    man_paragraphs(pcs_cli_help);
    puts(".SH COMMANDS");
    man_entries(pcs_cli_help);
    puts(".SH OPTIONS");
    man_entries(pcs_cli_option_help);
    puts(".SH \"EXIT STATUS\"");
    man_paragraphs(pcs_cli_option_help);
    puts(
        ".SH FILES\n.TP\n.I case.yaml\nthe case within a folder; every key is told by\n.B percuss list\n"
        ".TP\n.I share/percuss/cases\ncases that can be run by their names\n"
        ".TP\n.I share/percuss/case.schema.json\nthe JSON schema of a case file, for editors\n"
        ".SH EXAMPLES\n.nf\npercuss run bar_impact\npercuss run bar_impact \\-\\-set mesh.bar.elements=400 \\-o finer\n"
        "percuss study bar_impact \\-\\-vary scheme.rho_inf=0,0.5,1\n.fi\n"
        ".SH \"SEE ALSO\"\n.BR paraview (1),\n.BR mpiexec (1)");
}
