# What the library is made of, folder by folder: the registry, whose lines name the parts that a case can choose, and
# the files that those stand on. Gives PERCUSS_SOURCES. tests/lint checks that every file is compiled, and once.

percuss_sources(src/core alloc amplitude blas carry clock comm context dense expression
  matrix open pool rotation table text)
percuss_sources(src/linsolve linsolve_list.def bordered
  linsolve)
percuss_sources(mesh mesh_source_list.def dofmap merge mesh order part select sieve)
percuss_sources(elements element_list.def axial beam bushing_turning element exact_3d_tangent modal section
  taper)
percuss_sources(src/rows gap_list.def joint_list.def law_list.def angle beams box_tree derivative ends forces gap
  held motion points registry resolve segment swept table)
percuss_sources(src/system push rotations scale)
percuss_sources(src/fe assembly centre dofs fe initial internal law_bounds loads ops picture picture_carried
  picture_part probe reactions rigid rotations scale section_forces share slices stable taper taper_part turning)
percuss_sources(src/closed_form closed_form_list.def check closed_form)
percuss_sources(src/step step_list.def contact_problem curvature dense_contacts frictionless impact krylov_set
  outer preconditioner projection step sums)
percuss_sources(src/schemes scheme_list.def event explicit implicit
  ode registry scheme state tableau)
percuss_sources(src/output observer_list.def file observer obstacles record series
  tally text)
percuss_sources(src/case error expand keys load parse read tree write)
percuss_sources(src/analysis eigen modes statics statics_equilibrium
  statics_relax stiffness)
percuss_sources(src/sim accept certify certify_energy certify_forces certify_join certify_motion certify_rows checkpoint
  control retry sim)
percuss_sources(src/build amplitude build builder catalogue contacts deal describe elements initial joints loads maps
  mesh output schema sets supports time)
percuss_sources(src/api analyses drive load model once read run)
