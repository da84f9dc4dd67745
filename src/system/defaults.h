// Operations of a system that has nothing of the kind: constant matrices and directions, positions that add up, no
// drives, no search, no reactions, nothing to draw. A table of operations is complete with these.

#ifndef PCS_SYSTEM_DEFAULTS_H
#define PCS_SYSTEM_DEFAULTS_H

#include "system/system.h"

void pcs_default_update_mass(pcs_system *self, const double *q);
void pcs_default_update_tangents(pcs_system *self, double t, const double *q, const double *v);
void pcs_default_add_inertia_stiffness(pcs_system *self, const double *q, const double *a);
void pcs_default_update_directions(pcs_system *self, const double *q);
void pcs_default_update_slopes(pcs_system *self, const double *q, const double *x);
void pcs_default_add_joint_stiffness(pcs_system *self, const double *q, const double *lam);
void pcs_default_row_drives(const pcs_system *self, double t, double *way, double *speed);
pcs_status pcs_default_search(pcs_system *self, const double *q, bool *has_changed);
void pcs_default_passages(pcs_system *self, const double *q0, const double *q1, const pcs_passage_row *rows,
                          pcs_passage *worst);
void pcs_default_rate_bias(pcs_system *self, const double *q, const double *v, double *bias);
void pcs_default_resultant(const pcs_system *self, double t, const double *q, const double *v, double sum[3]);
// From M and K.
pcs_change pcs_default_change(const pcs_system *self, const double *q0, const double *q1, const double *v0,
                              const double *v1);
// From C.
double pcs_default_damping_power(const pcs_system *self, const double *q, const double *v, const double *u);
double pcs_default_internal_loss(const pcs_system *self, double t, const double *q);
void pcs_default_commit(pcs_system *self, double t, const double *q, const double *v);
double pcs_default_load_work(const pcs_system *self, double t, const double *q0, const double *q1);
double pcs_default_load_power(const pcs_system *self, double t, const double *q, const double *v);
void pcs_default_row_resultant(const pcs_system *self, int row, double out[3]);
void pcs_default_reactions(pcs_system *self, double h, const double *q, const double *v, const pcs_row_report *rows,
                           pcs_reaction *out);
// Of a mode at the limit of central differences. Few coordinates do not blow up within a run: where no step is stable
// it is only inaccurate.
double pcs_default_stable_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit);
void pcs_default_draw(pcs_system *self, const double *q, const double *v, pcs_picture *picture);
void pcs_default_contact_points(pcs_system *self, const double *q, double (*position)[3], double (*normal)[3]);
void pcs_default_press(pcs_system *self, const double *q, const double *v, pcs_row_report *rows);
void pcs_default_tangents(const pcs_system *self, double (*across)[3]);
// Mean of the positions (quantity 0) or velocities of the items.
double pcs_default_probe(const pcs_system *self, const pcs_probe *probe, const double *q, const double *v);
pcs_status pcs_default_find_sizes(const pcs_system *self, pcs_scale *out);
pcs_status pcs_default_find_rigid(const pcs_system *self, const double *q, pcs_rigid *out);

#endif
