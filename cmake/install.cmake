# What `cmake --install` puts where: program, libraries, public headers, Python package, cases, and the files by which
# CMake and pkg-config find them. The installed tree may be moved.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/percuss")

install(TARGETS percuss percuss_shared EXPORT percussTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS percuss_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(FILES src/percuss.h src/percuss_system.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
# Where Debian's Python looks below this prefix; a package says lib/python3/dist-packages.
find_program(python python3 PATHS /usr/bin NO_DEFAULT_PATH)
set(python_version 3)
if(python)
  execute_process(COMMAND ${python} -c "import sys; print('%d.%d' % sys.version_info[:2])"
    OUTPUT_VARIABLE python_version OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(PERCUSS_PYTHON_DIR "lib/python${python_version}/dist-packages" CACHE STRING "Folder of the Python package")
install(DIRECTORY python/percuss DESTINATION "${PERCUSS_PYTHON_DIR}" FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
  PATTERN "__pycache__" EXCLUDE)
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
