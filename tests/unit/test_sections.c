// Constants of sections against those of textbooks.

#include "elements/section.h"
#include "support/check.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// A section of a type of the table from its sizes, in the order of the options.
static pcs_section section_of(int type, const double *sizes)
{
    _Alignas(max_align_t) char params[PCS_SECTION_BYTES] = { 0 };
    pcs_section section;
    for (const pcs_option *o = pcs_section_types[type]->options; o->name != NULL; o++)
        memcpy(params + o->offset, sizes++, sizeof *sizes); // the value of a profile comes first
    pcs_section_types[type]->constants(params, &section);
    return section;
}

// A = pi (D^2 - d^2)/4 and the like, by hand.
TEST(sections_have_their_textbook_constants)
{
    const double pi = acos(-1.0);
    pcs_section s;
    double circle[2] = { 0.1, 0.9 }, tube[3] = { 0.1, 0.01, 0.5 }, i[4] = { 0.1, 0.2, 0.01, 0.006 };
    s = section_of(1, circle);
    CHECK_RELATIVE(s.area, pi * 0.0025, 1e-14);
    CHECK_RELATIVE(s.Iz, pi * 1e-4 / 64.0, 1e-14);
    CHECK_RELATIVE(s.torsion, pi * 1e-4 / 32.0, 1e-14);
    s = section_of(2, tube);
    CHECK_RELATIVE(s.area, pi * (0.01 - 0.0064) / 4.0, 1e-14);
    CHECK_RELATIVE(s.Iy, pi * (1e-4 - 0.4096e-4) / 64.0, 1e-14);
    s = section_of(3, i);
    CHECK_RELATIVE(s.area, 2.0 * 0.1 * 0.01 + 0.18 * 0.006, 1e-14);
    CHECK_RELATIVE(s.Iz, 0.1 * 0.008 / 12.0 - 0.094 * 0.005832 / 12.0, 1e-14);
    CHECK_RELATIVE(s.Iy, (0.02 * 1e-3 + 0.18 * 2.16e-7) / 12.0, 1e-14);
    CHECK_RELATIVE(s.torsion, (0.2 * 1e-6 + 0.18 * 2.16e-7) / 3.0, 1e-14);
    CHECK_RELATIVE(s.ky, 0.18 * 0.006 / s.area, 1e-14); // the web alone; along z the flanges, 5/6 of each rectangle
    CHECK_RELATIVE(s.kz, 5.0 / 6.0 * 0.002 / s.area, 1e-14);
    // Timoshenko and Goodier, table of torsion constants: 0.1406 for a square, 0.312 for ten to one
    double square[3] = { 0.2, 0.2, 0.8 }, flat[3] = { 0.01, 0.1, 0.8 };
    s = section_of(0, square);
    CHECK_RELATIVE(s.torsion, 0.1406 * 0.0016, 4e-4);
    s = section_of(0, flat);
    CHECK_RELATIVE(s.Iz, 0.01 * 1e-3 / 12.0, 1e-14);
    CHECK_RELATIVE(s.Iy, 0.1 * 1e-6 / 12.0, 1e-14);
    CHECK_RELATIVE(s.torsion, 0.312 * 0.1 * 1e-6, 2e-3);
}
