# What `cmake --install` puts where: program, libraries, public headers, Python package, cases, and the files by which
# CMake and pkg-config find them. The installed tree may be moved.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/percuss")

install(TARGETS percuss percuss_shared EXPORT percussTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS percuss_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(FILES src/percuss.h src/percuss_system.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY cases DESTINATION "${CMAKE_INSTALL_DATADIR}/percuss")
install(EXPORT percussTargets NAMESPACE percuss:: DESTINATION "${package_dir}")

configure_package_config_file(cmake/percussConfig.cmake.in "${PROJECT_BINARY_DIR}/percussConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/percussConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/percussConfig.cmake" "${PROJECT_BINARY_DIR}/percussConfigVersion.cmake"
  cmake/FindSuiteSparse.cmake cmake/FindARKODE.cmake DESTINATION "${package_dir}")

file(RELATIVE_PATH PERCUSS_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" PERCUSS_PC_TO_PREFIX "${PERCUSS_PC_TO_PREFIX}")
configure_file(cmake/percuss.pc.in "${PROJECT_BINARY_DIR}/percuss.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/percuss.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
