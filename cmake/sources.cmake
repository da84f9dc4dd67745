# What the library is made of, folder by folder: the registry, whose lines name the parts that a case can choose, and
# the files that those stand on. Gives PERCUSS_SOURCES. tests/lint checks that every file is compiled, and once.

percuss_sources(src/core alloc amplitude aside blas carry clock comm context dense expression expression_rates jacobi
  open pool rotation table text)
percuss_sources(src/sparse matrix pattern rows)
percuss_sources(src/linsolve linsolve_list.def bordered chain_banded chain_blocks chain_lu chain_pairs chain_windows
  linsolve)
percuss_sources(src/eigen arpack lapack null_space quadratic reduced symmetric)
percuss_sources(mesh mesh_source_list.def dofmap merge mesh msh msh_file order part
  select sieve)
percuss_sources(elements element_list.def axial axial_law beam bushing_turning element exact_3d_tangent modal one_node
  rod_sums section taper timoshenko)
percuss_sources(src/contact gap_list.def beams box_tree contact force_law points registry search segment swept)
percuss_sources(src/joint joint_list.def angle ends held joint motion)
percuss_sources(src/system push rotations scale)
percuss_sources(src/fe assembly centre dofs fe initial internal law_friction law_tangents laws
  load_size loads ops picture picture_carried picture_part pieces places probe ranges reactions rigid rotations rows
  scale section_forces share slices slopes spread springs stable tangents taper taper_part tumbling turning)
percuss_sources(src/closed_form closed_form_list.def check closed_form planes stable)
percuss_sources(src/step step_list.def active_set active_set_solve coarse columns contact_problem coupling
  curvature dense_contacts frictionless impact iteration krylov krylov_set krylov_treat
  newton_rows outer past preconditioner projected_gradient projection registry schur_map step sums)
percuss_sources(src/schemes scheme_list.def alpha_family event event_friction explicit force_change
  galerkin_weights ggl_unified midpoint ode registry scheme stability state tableau)
percuss_sources(src/output observer_list.def collect file observer obstacles record schedule
  series summary_write tally text vtk)
percuss_sources(src/case assign error expand keys load parse read scalar spelling tree write)
percuss_sources(src/analysis modes modes_output statics statics_arc statics_equilibrium statics_free statics_friction
  statics_message statics_newton statics_output statics_ramp statics_relax statics_round_off statics_rows stiffness)
percuss_sources(src/sim accept certify certify_case certify_energy certify_forces certify_friction
  certify_join certify_misfit certify_motion certify_residual certify_rows certify_rules checkpoint checkpoint_file
  control reactions retry sim)
percuss_sources(src/build amplitude build builder catalogue contacts deal describe elements initial joints loads maps
  mesh output schema scheme sets start supports system time)
percuss_sources(src/api analyses contacts drive load messages model once options read run)
