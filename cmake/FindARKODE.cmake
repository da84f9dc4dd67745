# The Runge-Kutta solvers of SUNDIALS. Debian's own CMake package would ask for MPI, PETSc and hypre, too.
# Gives the target ARKODE::arkode.

find_path(ARKODE_INCLUDE_DIR arkode/arkode_erkstep.h)
find_library(ARKODE_LIBRARY sundials_arkode)
find_library(ARKODE_VECTOR_LIBRARY sundials_nvecserial)
mark_as_advanced(ARKODE_INCLUDE_DIR ARKODE_LIBRARY ARKODE_VECTOR_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ARKODE REQUIRED_VARS ARKODE_LIBRARY ARKODE_VECTOR_LIBRARY ARKODE_INCLUDE_DIR)

if(ARKODE_FOUND AND NOT TARGET ARKODE::arkode)
  add_library(ARKODE::arkode UNKNOWN IMPORTED)
  set_target_properties(ARKODE::arkode PROPERTIES
    IMPORTED_LOCATION "${ARKODE_LIBRARY}"
    INTERFACE_LINK_LIBRARIES "${ARKODE_VECTOR_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${ARKODE_INCLUDE_DIR}")
endif()
