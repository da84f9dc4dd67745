# Debian packages, by `cpack` in the build folder; `make package` builds for them with the prefix /usr. Each component
# of the installation is a package of its own; those whose targets are not there are left out.

set(PERCUSS_MAINTAINER "The Percuss developers <developers@percuss.example.org>" CACHE STRING
  "Name and address in Debian packages")
mark_as_advanced(PERCUSS_MAINTAINER)
set(package_revision 0percuss1) # of packages that are not of Debian's archive
set(package_version "${PROJECT_VERSION}-${package_revision}")

# percuss_package(<component> <package> <section> <summary> <description>)
function(percuss_package component package section summary description)
  string(TOUPPER ${component} upper)
  foreach(pair "PACKAGE_NAME=${package}" "PACKAGE_SECTION=${section}" "DESCRIPTION=${summary}\n${description}")
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" matched "${pair}")
    set(CPACK_DEBIAN_${upper}_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endforeach()
  set(PERCUSS_COMPONENTS ${PERCUSS_COMPONENTS} ${component} PARENT_SCOPE)
  set(folder "${PROJECT_BINARY_DIR}/debian/${package}")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE "${folder}/changelog.Debian" "percuss (${package_version}) unstable; urgency=medium\n\n"
    "  * Version ${PROJECT_VERSION}.\n\n -- ${PERCUSS_MAINTAINER}  ${date}\n")
  file(COPY CHANGELOG.md DESTINATION "${folder}")
  file(RENAME "${folder}/CHANGELOG.md" "${folder}/changelog")
  execute_process(COMMAND gzip -9nf changelog changelog.Debian WORKING_DIRECTORY "${folder}" COMMAND_ERROR_IS_FATAL ANY)
  configure_file(cmake/copyright.in "${folder}/copyright" @ONLY)
  install(FILES "${folder}/changelog.gz" "${folder}/changelog.Debian.gz" "${folder}/copyright"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}" COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(PERCUSS_COMPONENTS "")
percuss_package(program percuss math "impact, friction and vibration of flexible bodies"
  "Percuss simulates impact, friction and vibration of bars, beams and rigid\nbodies by nonsmooth time \
integration. Every step is checked against the laws\nof contact and motion. This package holds the program, its \
cases and\ncompletion for shells.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "python3-percuss")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "paraview, percuss-doc, percuss-petsc")

set(lead "Percuss simulates impact, friction and vibration of bars, beams and rigid\nbodies. This package holds")
set(build_libraries
  "libsuitesparse-dev, libarpack2-dev, libyaml-dev, zlib1g-dev, liblapack-dev, pkg-config")
percuss_package(dev libpercuss-dev libdevel "impact, friction and vibration of flexible bodies (development)"
  "${lead} the headers, the static library, and the files\nfor CMake and pkg-config.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${build_libraries}")

if(TARGET percuss_shared)
  percuss_package(library libpercuss0 libs "impact, friction and vibration of flexible bodies (library)"
    "${lead} the shared library.")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/triggers")
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libpercuss0 (= ${package_version}), ${build_libraries}")
endif()

if(PERCUSS_HAS_PETSC)
  percuss_package(petsc percuss-petsc math "impact, friction and vibration of flexible bodies (several ranks)"
    "${lead} the object that lets the program run over several\nranks, with MPI and PETSc.")
  set(CPACK_DEBIAN_PETSC_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PETSC_PACKAGE_DEPENDS "percuss (= ${package_version})")
endif()

if(TARGET percuss_shared AND EXISTS "${PROJECT_SOURCE_DIR}/python/percuss/__init__.py")
  percuss_package(python python3-percuss python "impact, friction and vibration of flexible bodies (Python 3)"
    "${lead} the Python module, and the commands that\nplot, report, compare and study results.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, python3-numpy, libpercuss0 (>= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS
    "python3-pandas, python3-scipy, python3-matplotlib, python3-yaml, python3-jinja2, percuss")
  # Byte code is made with the installation and goes with the package, which does not own it.
  set(scripts "${PROJECT_BINARY_DIR}/debian/postinst" "${PROJECT_BINARY_DIR}/debian/prerm")
  set(tools py3compile py3clean)
  foreach(pair IN ZIP_LISTS scripts tools)
    file(WRITE "${pair_0}" "#!/bin/sh\nset -e\nif command -v ${pair_1} >/dev/null 2>&1; then\n"
      "    ${pair_1} -p python3-percuss\nfi\n")
    file(CHMOD "${pair_0}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
      WORLD_EXECUTE)
  endforeach()
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${scripts}")
endif()

percuss_package(doc percuss-doc doc "impact, friction and vibration of flexible bodies (documentation)"
  "${lead} the tutorial, the manual and the theory.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
install(FILES README.md ARCHITECTURE.md CITATION.cff DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/percuss-doc"
  COMPONENT doc EXCLUDE_FROM_ALL)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/percuss-doc" COMPONENT doc EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg" PATTERN "*.html"
  PATTERN examples EXCLUDE PATTERN site EXCLUDE)

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # cpack packs what is there and builds nothing
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME percuss)
set(CPACK_PACKAGE_CONTACT "${PERCUSS_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has one of its own
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_DEBIAN_PACKAGE_RELEASE ${package_revision})
set(CPACK_POST_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/ldconfig.cmake")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${PERCUSS_MAINTAINER}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL ${PERCUSS_COMPONENTS})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
include(CPack)
