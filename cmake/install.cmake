# What `cmake --install` puts where: program, libraries, public headers, Python package, cases, and the files by which
# CMake and pkg-config find them. The installed tree may be moved.

include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev) # of packages: what programs of others are built with
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/percuss")

install(TARGETS percuss percuss_shared EXPORT percussTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT dev)
install(TARGETS percuss_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
install(FILES src/percuss.h src/percuss_system.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
# Where Debian's Python looks below this prefix; a package says lib/python3/dist-packages.
find_program(python python3 PATHS /usr/bin NO_DEFAULT_PATH)
set(python_version 3)
if(python)
  execute_process(COMMAND ${python} -c "import sys; print('%d.%d' % sys.version_info[:2])"
    OUTPUT_VARIABLE python_version OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(PERCUSS_PYTHON_DIR "lib/python${python_version}/dist-packages" CACHE STRING "Folder of the Python package")
install(DIRECTORY python/percuss DESTINATION "${PERCUSS_PYTHON_DIR}" COMPONENT python FILES_MATCHING
  PATTERN "*.py" PATTERN "py.typed" PATTERN "*.mplstyle" PATTERN "*.js" PATTERN "*.html" PATTERN "*.css"
  PATTERN "__pycache__" EXCLUDE)
install(FILES src/percuss.h src/percuss_system.h DESTINATION "${PERCUSS_PYTHON_DIR}/percuss" COMPONENT python)
foreach(tool IN LISTS PERCUSS_TOOLS)
  install(PROGRAMS cmake/percuss-tool DESTINATION libexec/percuss RENAME "percuss-${tool}" COMPONENT python)
endforeach()
install(DIRECTORY cases DESTINATION "${CMAKE_INSTALL_DATADIR}/percuss" COMPONENT program)
install(FILES python/percuss/view.py DESTINATION "${CMAKE_INSTALL_DATADIR}/percuss" COMPONENT program)

# Page of the manual and schema of a case, told by the program itself.
set(PERCUSS_MAN "${PROJECT_BINARY_DIR}/percuss.1")
set(PERCUSS_SCHEMA "${PROJECT_BINARY_DIR}/case.schema.json")
add_custom_command(OUTPUT "${PERCUSS_MAN}.gz" "${PERCUSS_SCHEMA}" VERBATIM DEPENDS percuss_program
  COMMAND percuss_program help --man > "${PERCUSS_MAN}"
  COMMAND gzip -9nf "${PERCUSS_MAN}"
  COMMAND percuss_program list --schema > "${PERCUSS_SCHEMA}")
add_custom_target(percuss_texts ALL DEPENDS "${PERCUSS_MAN}.gz" "${PERCUSS_SCHEMA}")
install(FILES "${PERCUSS_MAN}.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT program)
install(FILES "${PERCUSS_SCHEMA}" DESTINATION "${CMAKE_INSTALL_DATADIR}/percuss" COMPONENT program)

# Debian's zsh looks for what packages bring elsewhere than for what one installs by hand.
set(zsh_dir "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
  set(zsh_dir "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
endif()
install(FILES cmake/completions/percuss.bash DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
  RENAME percuss COMPONENT program)
install(FILES cmake/completions/_percuss DESTINATION "${zsh_dir}" COMPONENT program)
install(FILES cmake/completions/percuss.fish DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
  COMPONENT program)

install(EXPORT percussTargets NAMESPACE percuss:: DESTINATION "${package_dir}")

configure_package_config_file(cmake/percussConfig.cmake.in "${PROJECT_BINARY_DIR}/percussConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/percussConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/percussConfig.cmake" "${PROJECT_BINARY_DIR}/percussConfigVersion.cmake"
  cmake/FindSuiteSparse.cmake DESTINATION "${package_dir}")

file(RELATIVE_PATH PERCUSS_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" PERCUSS_PC_TO_PREFIX "${PERCUSS_PC_TO_PREFIX}")
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr") # a program that is linked by the flags finds the library wherever it is
  set(PERCUSS_PC_RUN_PATH " -Wl,-rpath,\${libdir}")
endif()
configure_file(cmake/percuss.pc.in "${PROJECT_BINARY_DIR}/percuss.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/percuss.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
include(package)
