// Pictures and movies of the folder, in base 64 (RFC 4648).

#define _POSIX_C_SOURCE 200809L // opendir

#include "core/text.h"
#include "report/parts.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)64 << 20)

enum { MOST_PICTURES = 24, NAME_ROOM = 256 };

typedef struct kind {
    const char *ending, *type;
    bool is_movie;
} kind;

static const kind kinds[] = {
    { ".png", "image/png", false },
    { ".mp4", "video/mp4", true },
    { ".webm", "video/webm", true },
};

static const kind *pictures_kind(const char *name)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t length = strlen(name), ending = strlen(kinds[k].ending);
        if (length > ending && strcmp(name + length - ending, kinds[k].ending) == 0) return &kinds[k];
    }
    return NULL;
}

static int pictures_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool pictures_is_one(const char *name)
{
    return pictures_kind(name) != NULL && strlen(name) < NAME_ROOM;
}

// Names of all pictures in order; gives their number.
static pcs_status pictures_find(const pcs_page *page, int *count, char (**out)[NAME_ROOM])
{
    int room = 0;
    *count = 0;
    DIR *directory = opendir(page->folder);
    if (directory == NULL) return PCS_OK;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) room += pictures_is_one(entry->d_name);
    *out = pcs_take(page->ctx, (size_t)room + 1, sizeof **out, "names of pictures");
    rewinddir(directory);
    if (*out == NULL) room = 0;
    for (const struct dirent *entry; *count < room && (entry = readdir(directory)) != NULL;)
        if (pictures_is_one(entry->d_name)) strcpy((*out)[(*count)++], entry->d_name);
    closedir(directory);
    if (*out == NULL) return PCS_NO_MEMORY;
    qsort(*out, (size_t)*count, sizeof **out, pictures_compare);
    return PCS_OK;
}

static void pictures_base64(const pcs_page *page, const unsigned char *bytes, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned left = size - i < 3 ? (unsigned)(size - i) : 3;
        unsigned group = (unsigned)bytes[i] << 16;
        if (left > 1) group |= (unsigned)bytes[i + 1] << 8;
        if (left > 2) group |= bytes[i + 2];
        char text[5] = { letters[group >> 18 & 63], letters[group >> 12 & 63], '=', '=', '\0' };
        if (left > 1) text[2] = letters[group >> 6 & 63];
        if (left > 2) text[3] = letters[group & 63];
        pcs_page_markup(page, text);
    }
}

static pcs_status pictures_put(const pcs_page *page, const char *name)
{
    char path[PCS_PAGE_PATH], *bytes = NULL;
    size_t size = 0;
    const kind *k = pictures_kind(name);
    if (!pcs_page_path(page, name, path)) return PCS_OK;
    PCS_TRY(pcs_text_file(page->ctx, path, "the picture", MOST_BYTES, &bytes, &size));
    pcs_page_print(page, "<figure>\n<%s src=\"data:%s;base64,", k->is_movie ? "video controls" : "img", k->type);
    pictures_base64(page, (const unsigned char *)bytes, size);
    pcs_scratch_free(bytes);
    pcs_page_markup(page, k->is_movie ? "\" aria-label=\"Movie " : "\" alt=\"Picture ");
    pcs_page_text(page, name);
    pcs_page_markup(page, k->is_movie ? "\"></video>\n<figcaption>" : "\">\n<figcaption>");
    pcs_page_text(page, name);
    pcs_page_markup(page, "</figcaption>\n</figure>\n");
    return PCS_OK;
}

pcs_status pcs_report_pictures(const pcs_page *page)
{
    char(*names)[NAME_ROOM] = NULL;
    int count;
    PCS_TRY(pictures_find(page, &count, &names));
    if (count == 0) return PCS_OK;
    pcs_page_section(page, "pictures", "Pictures");
    pcs_page_markup(page, "<div class=\"charts\">\n");
    for (int i = 0; i < count && i < MOST_PICTURES; i++) PCS_TRY(pictures_put(page, names[i]));
    pcs_page_markup(page, "</div>\n");
    if (count > MOST_PICTURES)
        pcs_page_print(page, "<p class=\"soft\">%d more pictures are in the folder.</p>\n", count - MOST_PICTURES);
    pcs_page_section_end(page);
    return PCS_OK;
}
