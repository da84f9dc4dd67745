// Mesh files of Gmsh: known answers, what is refused and where, and thousands of damaged files.

#include "support/check.h"
#include "support/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME TESTS_OUTPUT_FOLDER "/part.msh"
#define HEAD "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"

// An L of 2 + 1 cells, nodes numbered at will, a node nobody uses, a mass at the far end, points without a group,
// parameters at the inner node.
static const char good_text[] = "$MeshFormat\n"
                                "4.1 0 8\n"
                                "$EndMeshFormat\n"
                                "$PhysicalNames\n"
                                "4\n"
                                "0 2 \"foot\"\n"
                                "1 3 \"deck\"\n"
                                "1 5 \"all of it\"\n"
                                "2 9 \"skin\"\n"
                                "$EndPhysicalNames\n" // 10
                                "$Entities\n"
                                "3 2 1 0\n"
                                "1 0 0 0 1 2\n"
                                "2 1 0 0 0\n"
                                "3 1 -1.5 0 1 4\n" // 15
                                "1 0 0 0 1 0 0 2 3 5 2 1 -2\n"
                                "2 1 -1.5 0 1 0 0 2 -5 6 2 2 -3\n"
                                "1 0 0 0 1 1 0 1 9 2 1 2\n"
                                "$EndEntities\n"
                                "$Nodes\n" // 20
                                "4 5 7 1000000007\n"
                                "0 1 0 1\n"
                                "100\n"
                                "0 0 0\n"
                                "0 2 0 2\n" // 25
                                "7\n"
                                "1000000007\n"
                                "1 0 0\n"
                                "1 -1.5e0 0\n"
                                "1 1 1 1\n" // 30
                                "8\n"
                                "0.5 0 0 0.5\n"
                                "2 1 0 1\n"
                                "55\n"
                                "9 9 9\n" // 35
                                "$EndNodes\n"
                                "$Elements\n"
                                "5 6 1 6\n"
                                "0 1 15 1\n"
                                "1 100 \n" // 40
                                "0 2 15 1\n"
                                "2 7 \n"
                                "0 3 15 1\n"
                                "3 1000000007 \n"
                                "1 1 1 2\n" // 45
                                "4 100 8 \n"
                                "5 8 7 \n"
                                "1 2 1 1\n"
                                "6 7 1000000007 \n"
                                "$EndElements\n"; // 50

static void write_file(const char *text, size_t size)
{
    remove(FILE_NAME); // a new file is not waited for, an overwritten one is
    FILE *file = fopen(FILE_NAME, "wb");
    assert_non_null(file);
    CHECK(fwrite(text, 1, size, file) == size);
    CHECK(fclose(file) == 0);
}

static pcs_status read_text(model *m, const char *text, size_t size)
{
    write_file(text, size);
    return mesh_try(m, "gmsh", "p", "{ file: " FILE_NAME " }", NULL);
}

// The nodes stand along the L from its first end: 100, 8, 7, 1000000007; node 55 is gone.
static void check_l_shape(const model *m)
{
    const pcs_mesh *mesh = m->mesh;
    const double x[4][3] = { { 0, 0, 0 }, { 0.5, 0, 0 }, { 1, 0, 0 }, { 1, -1.5, 0 } };
    CHECK(mesh->nnode == 4 && mesh->ncell == 5);
    for (int i = 0; i < 4; i++) CHECK_ALL_NEAR(3, mesh->x[i], x[i], 0.0);
    for (int c = 0; c < 3; c++) CHECK(mesh->cell[c][0] == c && mesh->cell[c][1] == c + 1);
    CHECK(mesh->cell[3][0] == 0 && mesh->cell[3][1] == 0 && mesh->cell[4][0] == 3 && mesh->cell[4][1] == 3);
    CHECK(mesh_set_is(model_nodes(m, "p"), 4, (int[]){ 0, 1, 2, 3 }));
    CHECK(mesh_set_is(model_cells(m, "p"), 3, (int[]){ 0, 1, 2 })); // lines only
    CHECK(mesh_set_is(model_cells(m, "p.deck"), 2, (int[]){ 0, 1 }));
    CHECK(mesh_set_is(model_nodes(m, "p.deck"), 3, (int[]){ 0, 1, 2 }));
    CHECK(mesh_set_is(model_cells(m, "p.all of it"), 3, (int[]){ 0, 1, 2 }));
    CHECK(mesh_set_is(model_cells(m, "p.foot"), 1, (int[]){ 3 }) &&
          mesh_set_is(model_nodes(m, "p.foot"), 1, (int[]){ 0 }));
    CHECK(mesh_set_is(model_cells(m, "p.4"), 1, (int[]){ 4 }) && mesh_set_is(model_nodes(m, "p.4"), 1, (int[]){ 3 }));
    CHECK(mesh_set_is(model_cells(m, "p.6"), 1, (int[]){ 2 }) &&
          mesh_set_is(model_nodes(m, "p.6"), 2, (int[]){ 2, 3 }));
    CHECK(mesh->nnode_set == 6 && mesh->ncell_set == 6); // nothing for the skin
    mesh_check_sound(mesh);
}

TEST_WITH_MODEL(a_file_is_read)
{
    CHECK_OK(((model *)*state)->ctx, read_text(*state, good_text, strlen(good_text)));
    check_l_shape(*state);
}

// Line ends of other systems, blank lines, sections of other programs.
TEST_WITH_MODEL(harmless_differences_are_taken)
{
    model *m = *state;
    char text[4096];
    size_t size = 0;
    for (const char *p = good_text; *p != '\0'; p++) {
        if (*p == '\n') text[size++] = '\r';
        text[size++] = *p;
        if (strncmp(p, "\n$Nodes", 7) == 0)
            size += (size_t)snprintf(text + size, 256, "\n \n$Comments\nNodes follow: $Nodes\n$EndComments\n");
    }
    size -= 2; // nothing after the last word
    CHECK_OK(m->ctx, read_text(m, text, size));
    check_l_shape(m);
}

TEST_WITH_MODEL(lengths_are_scaled)
{
    model *m = *state;
    write_file(good_text, strlen(good_text));
    mesh_make(m, "point", "first", "{ at: [0, 0, 0] }");
    mesh_make(m, "gmsh", "p", "{ file: " FILE_NAME ", scale: 0.001 }");
    CHECK_NEAR(m->mesh->x[4][1], -1.5e-3, 1e-19);
    CHECK(mesh_set_is(model_nodes(m, "p.foot"), 1, (int[]){ 1 }) &&
          mesh_set_is(model_cells(m, "p.deck"), 2, (int[]){ 1, 2 }));
    CHECK_STATUS(NULL, mesh_try(m, "gmsh", "q", "{ file: " FILE_NAME ", scale: 1.7e308 }", NULL), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(m->ctx), "too far away");
}

// Point groups with the names of line groups keep them apart; a file of points alone has them all in one set.
TEST_WITH_MODEL(groups_of_points_and_lines_stay_apart)
{
    model *m = *state;
    const char *text = HEAD "$Entities\n2 1 0 0\n1 0 0 0 1 1\n2 1 0 0 1 2\n1 0 0 0 1 0 0 1 1 0\n$EndEntities\n"
                            "$Nodes\n1 2 1 2\n1 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n"
                            "$Elements\n3 3 1 3\n1 1 1 1\n1 1 2\n0 1 15 1\n2 1\n0 2 15 1\n3 2\n$EndElements\n";
    CHECK_OK(m->ctx, read_text(m, text, strlen(text)));
    CHECK(mesh_set_is(model_nodes(m, "p.1"), 2, (int[]){ 0, 1 }));
    CHECK(mesh_set_is(model_nodes(m, "p.1.points"), 1, (int[]){ 0 }));
    CHECK(mesh_set_is(model_nodes(m, "p.2"), 1, (int[]){ 1 }));
    const char *points = HEAD "$Entities\n2 0 0 0\n1 0 0 0 1 1\n2 1 0 0 1 2\n$EndEntities\n"
                              "$Nodes\n1 2 1 2\n1 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n"
                              "$Elements\n2 2 2 3\n0 1 15 1\n2 1\n0 2 15 1\n3 2\n$EndElements\n";
    write_file(points, strlen(points));
    mesh_make(m, "gmsh", "q", "{ file: " FILE_NAME " }");
    CHECK(model_cells(m, "q")->count == 2 && model_nodes(m, "q")->count == 2);
    mesh_check_sound(m->mesh);
}

// Two curves between the same points, meshed with one line each, are two bars side by side.
TEST_WITH_MODEL(parallel_lines_stay_two)
{
    model *m = *state;
    const char *text = HEAD "$Entities\n0 2 0 0\n1 0 0 0 1 0 0 2 1 3 0\n2 0 0 0 1 0 0 1 3 0\n$EndEntities\n"
                            "$Nodes\n1 2 1 2\n1 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n"
                            "$Elements\n2 2 1 2\n1 1 1 1\n1 1 2\n1 2 1 1\n2 1 2\n$EndElements\n";
    CHECK_OK(m->ctx, read_text(m, text, strlen(text)));
    CHECK(m->mesh->ncell == 2);
    CHECK(mesh_set_is(model_cells(m, "p.1"), 1, (int[]){ 0 }) &&
          mesh_set_is(model_cells(m, "p.3"), 2, (int[]){ 0, 1 }));
}

typedef struct damage {
    const char *old, *new, *reported;
} damage;

// Each file is the good one with one change; the message names the line and what is wrong.
static void check_damages(const char *good, int count, const damage *damages)
{
    for (int i = 0; i < count; i++) {
        char text[8192];
        const damage *d = &damages[i];
        const char *at = strstr(good, d->old);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, d->new, at + strlen(d->old));
        model *m = model_create();
        pcs_status status = read_text(m, text, strlen(text));
        if (status != PCS_BAD_INPUT) print_message("'%s' -> '%s' gives no error\n", d->old, d->new);
        CHECK_STATUS(m->ctx, status, PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(m->ctx), FILE_NAME);
        CHECK_TEXT(pcs_message(m->ctx), d->reported);
        CHECK(m->mesh->nnode == 0 && m->mesh->ncell == 0);
        model_destroy(&m);
    }
}

static const damage damages[] = {
    { "$MeshFormat\n", "Mesh\n", ":1: this is no mesh file of Gmsh" },
    { "4.1 0 8", "2.2 0 8", ":2: format 2.2 cannot be read, only 4.1" },
    { "4.1 0 8", "4.1 1 8", ":2: format 4.1 binary cannot be read" },
    { "4.1 0 8", "4,1 0 8", ":2: the version must be a number, is '4,1'" },
    { "4.1 0 8", "4.1 0", ":2: the line ends before the data size" },
    { "$EndMeshFormat", "$EndMesh", ":3: $EndMeshFormat must follow here" },
    { "0 2 \"foot\"", "0 2 foot", ":6: a group needs its name in quotes" },
    { "0 2 \"foot\"", "0 2 \"\"", ":6: the name of a group is empty" },
    { "0 2 \"foot\"", "1 3 \"foot\"", ":7: group 3 has a name already" },
    { "0 2 \"foot\"", "1 2 \"deck\"", ":7: groups 2 and 3 have the same name 'deck'" },
    { "0 2 \"foot\"", "4 2 \"foot\"", ":6: the dimension of a group must be from 0 to 3, is 4" },
    { "\n4\n", "\n3\n", ":9: $EndPhysicalNames must follow here, after the names that the section announces; is '2'" },
    { "\n4\n", "\n5\n", ":10: the dimension of a group must be a whole number, is '$EndPhysicalNames'" },
    { "3 2 1 0\n", "3 2 1\n", ":12: the line ends before the number of entities" },
    { "3 2 1 0\n", "3 2 2 0\n", "entity 2 of 2 surfaces: " FILE_NAME ":19: the tag of an entity" },
    { "3 2 1 0\n", "3 2 0 0\n", ":18: $EndEntities must follow here" },
    { "2 1 0 0 0\n", "2 1 0 0 4\n", "entity 2 of 3 points: " FILE_NAME ":14: the line ends before a physical group" },
    { "2 3 5 2 1 -2\n", "2 3 5 3 1 -2\n", ":16: the line ends before a bounding entity" },
    { "4 5 7 10", "4 6 7 10", ":36: the blocks hold 5 nodes, but 6 are announced" },
    { "4 5 7 10", "3 5 7 10", ":33: $EndNodes must follow here, after the blocks that the section announces" },
    { "4 5 7 10", "5 5 7 10", ":36: the dimension of a block must be a whole number, is '$EndNodes'" },
    { "0 2 0 2\n", "0 2 0 3\n", ":28: the line must end before '0'" },
    { "0 2 0 2\n", "0 2 0 1\n", ":27: the line ends before y of a node" },
    { "0 2 0 2\n", "0 2 2 2\n", ":25: 'parametric' of a block must be from 0 to 1, is 2" },
    { "0 2 0 2\n", "7 2 0 2\n", ":25: the dimension of a block must be from 0 to 3, is 7" },
    { "0.5 0 0 0.5\n", "0.5 0 0\n", ":32: the line ends before a parameter of a node" },
    { "\n7\n1000000007\n", "\n100\n1000000007\n", ":26: node 100 is given twice" },
    { "5 6 1 6\n", "5 7 1 6\n", ":50: the blocks hold 6 elements, but 7 are announced" },
    { "5 6 1 6\n", "4 6 1 6\n", ":48: $EndElements must follow here" },
    { "1 1 1 2\n4 100", "1 1 1 3\n4 100", ":48: element 1 has node 2, which $Nodes does not give" },
    { "1 1 1 2\n4 100", "1 1 8 2\n4 100", ":45: elements of type 8 (line of 3 nodes) cannot be read" },
    { "1 1 1 2\n4 100", "2 1 1 2\n4 100", ":45: elements of type 1 must have dimension 1, have 2" },
    { "4 100 8", "4 100 9", ":46: element 4 has node 9, which $Nodes does not give" },
    { "4 100 8", "4 100 100", ":46: element 4 has no length" },
    { "4 100 8 \n", "4 100 8 7\n", ":46: the line must end before '7'" },
    { "4 5 7 10", "-4 5 7 10", ":21: the number of blocks must be from 0 to" },
    { "4 5 7 10", "99999 5 7 10", ":21: the number of blocks is 99999, but the rest of the file has room for" },
    { "4 5 7 10", "99999999999999999999999 5 7 10", ":21: the number of blocks must be from 0 to" },
    { "1000000007\n0 1 0 1\n", "1000000007 1\n0 1 0 1\n", ":21: the line must end before '1'" },
    { "\n7\n1000000007\n", "\n0\n1000000007\n", ":26: the tag of a node must be from 1 to" },
    { "\n1 0 0\n1 -1.5e0", "\n1 0\n1 -1.5e0", ":28: the line ends before z of a node" },
    { "\n1 0 0\n1 -1.5e0", "\n1 0 0 0\n1 -1.5e0", ":28: the line must end before '0'" },
    { "\n1 0 0\n1 -1.5e0", "\n1 x 0\n1 -1.5e0", ":28: y of a node must be a number, is 'x'" },
    { "\n1 0 0\n1 -1.5e0", "\nnan 0 0\n1 -1.5e0", ":28: x of a node must be a number, is 'nan'" },
    { "\n1 0 0\n1 -1.5e0", "\n0x1 0 0\n1 -1.5e0", ":28: x of a node must be a number, is '0x1'" },
    { "\n1 0 0\n1 -1.5e0", "\n1e999 0 0\n1 -1.5e0", ":28: x of a node must be finite, is 1e999" },
    { "\n1 0 0\n1 -1.5e0", "\n1e 0 0\n1 -1.5e0", ":28: x of a node must be a number, is '1e'" },
    { "\n1 0 0\n1 -1.5e0", "\n\001 0 0\n1 -1.5e0", ":28: x of a node must be a number, is '?'" },
    { "0.5 0 0 0.5\n", "0 0 0 0.5\n", ":46: element 4 has no length: its nodes 100 and 8 are both at [0, 0, 0]" },
    { "1 1 1 2\n4 100", "1 1 2 2\n4 100", ":45: elements of type 2 (triangle) cannot be read" },
    { "1 1 1 2\n4 100", "1 1 26 2\n4 100", ":45: elements of type 26 (line of 4 nodes)" },
    { "1 1 1 2\n4 100", "1 1 93 2\n4 100", ":45: elements of type 93 cannot be read" },
    { "4 100 8 \n", "4 100\n", ":46: the line ends before a node" },
    { "$Elements", "$Element", ":50: the file ends within $Element, which begins in line 37" },
    { "$EndElements\n", "$EndElements\n$Nodes\n0\n$EndNodes\n", ":51: the file has the section twice" },
    { "$EndElements\n", "$EndElements\n$Data\n1\n", ":52: the file ends within $Data, which begins in line 51" },
    { "$EndElements\n", "$EndElements\nmore\n", ":51: a section such as $Nodes must begin here" },
    { "$EndElements\n", "$EndElements\n$EndNodes\n", ":51: $EndNodes ends what has not begun" },
    { "$EndElements\n", "$EndElements\n$PartitionedEntities\n", ":51: a partitioned mesh cannot be read" },
};

TEST(faults_are_told_with_their_line)
{
    check_damages(good_text, (int)(sizeof damages / sizeof *damages), damages);
}

TEST_WITH_MODEL(missing_parts_are_told)
{
    model *m = *state;
    const struct {
        const char *text, *reported;
    } bad[] = {
        { "", ":0: the file is empty" },
        { "\n \n", "the file is empty" },
        { HEAD, "the file ends without $Nodes" },
        { HEAD "$Nodes\n0 0 0 0\n$EndNodes\n", "the file ends without $Elements" },
        { HEAD "$Nodes\n0 0 0 0\n$EndNodes\n$Elements\n0 0 0 0\n$EndElements\n", "has no line" },
        { HEAD "$Elements\n1 1 1 1\n0 1 15 1\n1 1\n$EndElements\n",
          ":7: element 1 has node 1, which $Nodes does not give" },
        { HEAD "$Nodes\n1 1 1 1\n0 1 0 1\n1\n0 0 0\n$EndNodes\n$Elements\n1 1 1 1\n0 1 15 1\n1 1\n$EndElements\n",
          "has no line, and no point that belongs to a group" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(NULL, read_text(m, bad[i].text, strlen(bad[i].text)), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(m->ctx), bad[i].reported);
    }
    CHECK_STATUS(NULL, mesh_try(m, "gmsh", "p", "{ file: /nowhere/at/all.msh }", NULL), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(m->ctx), "cannot open the mesh file '/nowhere/at/all.msh': No such file");
    CHECK_STATUS(NULL, mesh_try(m, "gmsh", "p", "{ file: / }", NULL), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(m->ctx), "cannot open the mesh file '/': Is a directory");
}

// Whatever is in a file: a sound mesh, or an error that names the file.
static pcs_status check_any(const char *text, size_t size)
{
    model *m = model_create();
    pcs_status status = read_text(m, text, size);
    if (status == PCS_OK) {
        mesh_check_sound(m->mesh);
    } else {
        CHECK_STATUS(m->ctx, status, PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(m->ctx), FILE_NAME ":");
    }
    model_destroy(&m);
    return status;
}

TEST(a_file_cut_anywhere_is_refused)
{
    size_t whole = strlen(good_text) - 1; // the last line may lack its end
    for (size_t size = 0; size < whole; size++) CHECK_STATUS(NULL, check_any(good_text, size), PCS_BAD_INPUT);
    CHECK_STATUS(NULL, check_any(good_text, whole), PCS_OK);
}

TEST(damaged_files_never_crash)
{
    static const char signs[] = "0123456789-.eE \n\"$xN\377";
    char text[4096], rest[4096];
    int nfine = 0, nbad = 0;
    size_t size = strlen(good_text);
    memcpy(text, good_text, size);
    for (size_t i = 0; i < size; i++) {
        for (size_t s = 0; s < sizeof signs; s++) { // with the zero at its end
            text[i] = signs[s];
            if (check_any(text, size) == PCS_OK) nfine++;
            else nbad++;
        }
        text[i] = good_text[i];
        memcpy(rest, good_text, i); // one byte less
        memcpy(rest + i, good_text + i + 1, size - i - 1);
        check_any(rest, size - 1);
    }
    CHECK(nbad > 5000 && nfine > 500);
}

// Large numbers of nodes with scattered tags, elements in two groups each: time and memory stay in proportion.
TEST_WITH_MODEL(large_files_are_read)
{
    model *m = *state;
    enum { N = 20000 };
    FILE *file = fopen(FILE_NAME, "wb");
    assert_non_null(file);
    fprintf(file, HEAD "$Entities\n0 1 0 0\n1 0 0 0 1 0 0 2 1 2 0\n$EndEntities\n");
    fprintf(file, "$Nodes\n1 %d 1 1000003\n1 1 0 %d\n", N + 1, N + 1);
    for (long i = 0; i <= N; i++) fprintf(file, "%ld\n", 1 + i * 7919 % 1000003);
    for (long i = 0; i <= N; i++) fprintf(file, "%ld 0 0\n", i);
    fprintf(file, "$EndNodes\n$Elements\n1 %d 1 %d\n1 1 1 %d\n", N, N, N);
    for (long i = N - 1; i >= 0; i--)
        fprintf(file, "%ld %ld %ld\n", i + 1, 1 + i * 7919 % 1000003, 1 + (i + 1) * 7919 % 1000003);
    fprintf(file, "$EndElements\n");
    CHECK(fclose(file) == 0);
    mesh_make(m, "gmsh", "p", "{ file: " FILE_NAME " }");
    CHECK(m->mesh->nnode == N + 1 && m->mesh->ncell == N && mesh_bandwidth(m->mesh) == 1);
    CHECK(model_cells(m, "p.1")->count == N && model_cells(m, "p.2")->count == N);
    for (int i = 0; i <= N; i++) CHECK(m->mesh->x[i][0] == i);
    mesh_check_sound(m->mesh);
}
