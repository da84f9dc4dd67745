# The shared object with everything of MPI and PETSc, loaded at run time: a serial run never sees either.
# Gives PERCUSS_HAS_PETSC, 0 or 1.

set(PERCUSS_HAS_PETSC 0)
if(PERCUSS_PETSC)
  pkg_check_modules(PETSC IMPORTED_TARGET PETSc>=3.18)
  find_package(MPI COMPONENTS C)
  if(PETSC_FOUND AND MPI_C_FOUND)
    set(PERCUSS_HAS_PETSC 1)
  else()
    message(STATUS "MPI or PETSc >= 3.18 is not there: Percuss is built without them")
  endif()
endif()

if(PERCUSS_HAS_PETSC)
  add_library(percuss_petsc MODULE src/linsolve/parallel.c
    src/core/context.c src/core/alloc.c)
  # The same run path built and installed: CMake would pad the first one with an empty element, the current folder.
  set_target_properties(percuss_petsc PROPERTIES C_VISIBILITY_PRESET hidden PREFIX lib
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}" BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
  target_include_directories(percuss_petsc PRIVATE src)
  target_compile_definitions(percuss_petsc PRIVATE PERCUSS_VERSION="${PROJECT_VERSION}")
  target_link_libraries(percuss_petsc PRIVATE percuss_flags PkgConfig::PETSC MPI::MPI_C)
  install(TARGETS percuss_petsc LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/percuss" COMPONENT petsc)
endif()
