// Live gates of a contact problem of many rows (contact_problem.h): the law of a velocity is imposed where the gate is
// closed, and the gate follows the z that this leads to. One that opens when its law is imposed and closes when it is
// not would do so for ever; it counts as closed, as in the dense solvers, and the law of the gap settles about that.

#include "step/krylov_set.h"

enum { GATE_OPENED = 1, GATE_CONTRADICTED };

bool pcs_krylov_gate_is_closed(const pcs_krylov_set *c, int row)
{
    return c->gate_story[row] == GATE_CONTRADICTED || pcs_contact_is_gated(&c->p, row);
}

void pcs_krylov_gate_follow(pcs_krylov_set *c, int row)
{
    bool is_closed = pcs_krylov_gate_is_closed(c, row);
    if (c->p.gate[row] && !is_closed) c->gate_story[row] = GATE_OPENED;
    c->p.gate[row] = is_closed;
}

void pcs_krylov_gate_close(pcs_krylov_set *c)
{
    for (int j = 0; j < c->p.m; j++)
        if (c->gate_story[j] == GATE_OPENED && !c->p.gate[j] && pcs_krylov_gate_is_closed(c, j))
            c->gate_story[j] = GATE_CONTRADICTED;
}
