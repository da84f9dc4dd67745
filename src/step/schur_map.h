// Maps contact multipliers to the motion of a step by products: M^-1 and S*^-1 applied to G^T z, no columns kept.
//
//   M U = G^T nu + (h/2) T^T Lt (position level only; with held rows G^T nu + T^T nu_t),   M W = G^T La + T^T Lt
//   D = U + kw W
//   S* d = Gb^T mu - h K D - h C W,   dq = kb d + D,   dv = d + W,   S* = c M + h C + h kb K
//
// Shorter where the form allows (fq = M U, fv = M W):
//   kw = kb, no position law     dv = c S*^-1 fv                       one solve
//   C = 0                        dq = S*^-1 (c (fq + kw fv) + kb Gb^T mu) =: x,   d = (x - D) / kb

#ifndef PCS_STEP_SCHUR_MAP_H
#define PCS_STEP_SCHUR_MAP_H

#include "step/curvature.h"
#include "step/krylov_set.h"
#include "step/step.h"

typedef enum pcs_map_kind { PCS_MAP_STILL, PCS_MAP_SHORT, PCS_MAP_UNDAMPED, PCS_MAP_GENERAL } pcs_map_kind;

typedef struct pcs_schur_map {
    pcs_step_solver *solver;
    pcs_curvature *curvature; // of rows, part of K; NULL: left out
    pcs_matrix *S;
    pcs_linsolve *iteration; // of S
    pcs_map_kind kind;
    const pcs_rows *G, *T;   // directions of the own rows; T is NULL without friction
    const pcs_rows *Gx, *Tx; // those that impulses act along
    int nb;                  // bilateral rows with smooth multipliers
    int *bilateral;          // [nb]
    double *fq, *fv;         // [nv] M U, M W
    double *fs;              // [nv] Gb^T mu
    double *D, *W;           // [nv]
    double *d;               // [nv]
    double *dq, *dv;         // [nv]
    double *row;             // [own tangents and rows] products with rows
    const double *at;        // [nv] increment that positions are turned by, where they do not add up; else NULL
    const pcs_contact_problem *problem; // that it is for
    bool is_for_rows;                   // of spread rows: solutions are needed on own equations alone
    bool has_fq, has_fv, has_fs;
} pcs_schur_map;

pcs_status pcs_schur_map_create(pcs_step_solver *solver, pcs_schur_map **out);
// The kind for the solver's form, and whether there are smooth multipliers.
void pcs_schur_map_choose(pcs_schur_map *map);
// As pcs_krylov_set_product, with a map as the owner.
void pcs_schur_map_product(void *owner, int in, int out, const double *z, double *value, double *gate_gap);
// y += scale K x, with the curvature.
void pcs_schur_map_add_stiffness(const pcs_schur_map *map, double scale, const double *x, double *y);
// Adds to `value` the change of the velocities of joints as their rows rotate with a change dx of the increment.
void pcs_schur_map_add_turns(const pcs_schur_map *map, const double *dx, double *value);
// Fills b for held rows at zero multipliers: G and T times the displacement `way` = kh d + drift; 0 for joints.
void pcs_schur_map_hold_base(pcs_schur_map *map, const double *way, double *b);
// D and W alone for z.
void pcs_schur_map_jumps(pcs_schur_map *map, const double *z);
// d, dq, dv and W for z, all of them.
void pcs_schur_map_motion(pcs_schur_map *map, const double *z);

#endif
