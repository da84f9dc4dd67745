# SuiteSparse as Debian ships it, which has neither a pkg-config file nor a CMake package.
# Gives the targets SuiteSparse::cholmod and SuiteSparse::umfpack.

find_path(SuiteSparse_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
find_library(SuiteSparse_CHOLMOD_LIBRARY cholmod)
find_library(SuiteSparse_UMFPACK_LIBRARY umfpack)
mark_as_advanced(SuiteSparse_INCLUDE_DIR SuiteSparse_CHOLMOD_LIBRARY SuiteSparse_UMFPACK_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SuiteSparse
  REQUIRED_VARS SuiteSparse_CHOLMOD_LIBRARY SuiteSparse_UMFPACK_LIBRARY SuiteSparse_INCLUDE_DIR)

if(SuiteSparse_FOUND)
  foreach(part cholmod umfpack)
    if(NOT TARGET SuiteSparse::${part})
      string(TOUPPER ${part} upper)
      add_library(SuiteSparse::${part} UNKNOWN IMPORTED)
      set_target_properties(SuiteSparse::${part} PROPERTIES
        IMPORTED_LOCATION "${SuiteSparse_${upper}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${SuiteSparse_INCLUDE_DIR}")
    endif()
  endforeach()
endif()
