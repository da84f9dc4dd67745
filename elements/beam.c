#include "elements/beam.h"

const char *const pcs_beam_masses[] = { "consistent", "lumped", NULL };

void pcs_beam_turn(int ndof, int nmode, const double R[3][3], const double *local_B, const double *local_M,
                   pcs_modal_kind *kind)
{
    for (int a = 0; a < nmode; a++)
        for (int j = 0; j < ndof; j++)
            for (int k = 0; k < 3; k++) kind->B[a * ndof + j] += local_B[a * ndof + 3 * (j / 3) + k] * R[k][j % 3];
    for (int i = 0; i < ndof; i++)
        for (int j = 0; j < ndof; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    kind->M[i * ndof + j] +=
                        R[k][i % 3] * local_M[(3 * (i / 3) + k) * ndof + 3 * (j / 3) + l] * R[l][j % 3];
}
