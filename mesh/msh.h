// Gmsh's mesh files in text form, versions 2.2 and 4.1, as far as bars need them: nodes, two-node lines, points and
// physical groups. Private to the mesh source `gmsh`.
//
// Every record stands on a line of its own, as Gmsh writes it; a fault names the file and the line. Nothing is
// believed before it is read: arrays grow with what is there, not with what a count announces.

#ifndef PCS_MESH_MSH_H
#define PCS_MESH_MSH_H

#include "core/context.h"

enum { PCS_MSH_POINT = 0, PCS_MSH_LINE = 1 }; // dimension of elements and groups

// The text of a file and the line that is being read.
typedef struct pcs_msh_text {
    pcs_context *ctx;
    const char *path;
    const char *next, *end; // what follows the current line
    const char *at, *stop;  // what is left of the current line
    int line;               // of `at`, from 1
} pcs_msh_text;

// Stores "file:line: message" and gives PCS_BAD_INPUT.
pcs_status pcs_msh_fail(const pcs_msh_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Goes on to the next line that is not blank; false at the end of the file.
bool pcs_msh_next(pcs_msh_text *text);
// The same within a section, where the end of the file is a fault.
pcs_status pcs_msh_record(pcs_msh_text *text, const char *section);
// The next word of the line as a whole number from low to high, or as a finite number.
pcs_status pcs_msh_whole(pcs_msh_text *text, const char *what, long low, long high, long *out);
pcs_status pcs_msh_real(pcs_msh_text *text, const char *what, double *out);
pcs_status pcs_msh_position(pcs_msh_text *text, double x[3]);
// A number of records to come: no more than the rest of the file can hold.
pcs_status pcs_msh_count(pcs_msh_text *text, const char *what, long *out);
// The rest of the line must be empty.
pcs_status pcs_msh_line_ends(pcs_msh_text *text);
// A line of its own that must be `word`, after the records that `announced` says.
pcs_status pcs_msh_section_ends(pcs_msh_text *text, const char *word, const char *announced);
// Is the whole current line this word?
bool pcs_msh_is(const pcs_msh_text *text, const char *word);

typedef struct pcs_msh_element {
    int node[2]; // equal for a point
    int dimension;
    long entity; // of the geometry; together with the nodes it tells repetitions
    int line;    // of the file
    int member;  // the newest of its memberships, -1: none
} pcs_msh_element;

typedef struct pcs_msh_group {
    int dimension;
    long tag;
    char *name; // NULL: none given
} pcs_msh_group;

typedef struct pcs_msh_member {
    int element, group;
    int before; // of the same element, -1: none
} pcs_msh_member;

// An entity of the geometry and the groups it belongs to (4.1).
typedef struct pcs_msh_entity {
    int dimension;
    long tag;
    int first, count; // in `physical`
} pcs_msh_entity;

// Holds the contents of a file; all arrays are scratch memory.
typedef struct pcs_msh {
    int nnode, nelement, ngroup, nmember, nentity, nphysical;
    int tag_room, x_room, element_room, group_room, member_room, entity_room, physical_room;
    long *tag;                // [nnode] of the nodes, as the file numbers them
    double (*x)[3];           // [nnode]
    pcs_msh_element *element; // lines, and points that belong to a group
    pcs_msh_group *group;
    pcs_msh_member *member; // which element belongs to which group
    pcs_msh_entity *entity;
    long *physical;   // tags of groups
    int *slot, nslot; // nodes by hash of their tag, -1: free; nslot is a power of 2
} pcs_msh;

// Room for one more item in an array.
pcs_status pcs_msh_grow(const pcs_msh_text *text, void *array, int *room, int count, size_t size);
// A new node with this tag; a tag that is there already is a fault.
pcs_status pcs_msh_add_tag(const pcs_msh_text *text, pcs_msh *msh, long tag);
// Reads the nodes of an element of known dimension, which end the line; an unknown tag of one is a fault that names the
// element.
pcs_status pcs_msh_element_nodes(pcs_msh_text *text, const pcs_msh *msh, long tag, pcs_msh_element *element);
// A new element of the current line, of type 1 or 15; zero length is a fault.
pcs_status pcs_msh_add_element(const pcs_msh_text *text, pcs_msh *msh, const pcs_msh_element *element, long tag);
// The group of that dimension and tag, added when it is new.
pcs_status pcs_msh_find_group(const pcs_msh_text *text, pcs_msh *msh, int dimension, long tag, int *group);
// Once more is no fault and changes nothing.
pcs_status pcs_msh_add_member(const pcs_msh_text *text, pcs_msh *msh, int element, int group);
// Faults when an element is of another type than line and point.
pcs_status pcs_msh_check_type(const pcs_msh_text *text, long type);

// Reads a whole file; the caller frees what was read, also after a fault.
pcs_status pcs_msh_read(pcs_context *ctx, const char *path, pcs_msh *msh);
void pcs_msh_free(pcs_msh *msh);

#endif
