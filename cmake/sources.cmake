# What the library is made of, folder by folder: the registry, whose lines name the parts that a case can choose, and
# the files that those stand on. Gives PERCUSS_SOURCES. tests/lint checks that every file is compiled, and once.

percuss_sources(src/core alloc amplitude archive blas clock comm context dense expression
  matrix open pool rotation text)
percuss_sources(src/linsolve linsolve_list.def bordered
  linsolve)
percuss_sources(mesh mesh_source_list.def merge mesh part)
percuss_sources(elements element_list.def element modal section)
percuss_sources(src/rows gap_list.def joint_list.def law_list.def box_tree ends gap
  held registry segment table)
percuss_sources(src/system rotations)
percuss_sources(src/fe dofs fe initial loads picture
  probe rigid stable)
percuss_sources(src/closed_form closed_form_list.def closed_form)
percuss_sources(src/step step_list.def contact_problem curvature dense_contacts krylov_set outer
  projection step sums)
percuss_sources(src/schemes scheme_list.def explicit implicit
  registry scheme state tableau)
percuss_sources(src/output observer_list.def file observer tally)
percuss_sources(src/case error expand keys load parse tree write)
percuss_sources(src/analysis eigen modes statics stiffness)
percuss_sources(src/sim certify horizon sim)
percuss_sources(src/build bars build builder catalogue elements joints loads
  mesh output)
percuss_sources(src percuss)
