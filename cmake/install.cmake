# What `cmake --install` puts where: program, static library, public headers, cases, and the files by which
# CMake and pkg-config find them. The installed tree may be moved.

include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev) # of packages: what programs of others are built with
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/percuss")

install(TARGETS percuss EXPORT percussTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS percuss_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
install(FILES src/percuss.h src/percuss_system.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY cases DESTINATION "${CMAKE_INSTALL_DATADIR}/percuss" COMPONENT program)

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
install(FILES completions/percuss.bash DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
  RENAME percuss COMPONENT program)
install(FILES completions/_percuss DESTINATION "${zsh_dir}" COMPONENT program)
install(FILES completions/percuss.fish DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
  COMPONENT program)

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
include(package)
