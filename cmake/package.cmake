# Debian packages, by `cpack` in the build folder; `make package` builds for them with the prefix /usr. Each component
# of the installation is a package of its own; those whose targets are not there are left out.

set(PERCUSS_MAINTAINER "The Percuss developers <developers@percuss.example.org>" CACHE STRING
  "Name and address in Debian packages")
mark_as_advanced(PERCUSS_MAINTAINER)
set(package_version "${PROJECT_VERSION}-1")

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
percuss_package(program percuss math "flexible bodies that hit, stick and rebound"
  "Percuss computes bars, beams and rigid bodies, joined and free, that hit walls\nand each other, stick, slide and \
rebound, by nonsmooth time integration. Every\nstep is certified. This package holds the program, its cases and \
completion\nfor shells.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "python3-percuss")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "paraview, percuss-doc, percuss-petsc")

set(lead "Percuss computes bars, beams and rigid bodies that hit, stick and rebound.\nThis package holds")
set(build_libraries
  "libsuitesparse-dev, libarpack2-dev, libyaml-dev, zlib1g-dev, liblapack-dev, pkg-config")
percuss_package(dev libpercuss-dev libdevel "flexible bodies that hit, stick and rebound (development)"
  "${lead} the headers and the static library, and the files by which\nCMake and pkg-config find them.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${build_libraries}")

if(TARGET percuss_shared)
  percuss_package(library libpercuss0 libs "flexible bodies that hit, stick and rebound (library)"
    "${lead} the shared library.")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/triggers")
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libpercuss0 (= ${package_version}), ${build_libraries}")
endif()

if(PERCUSS_HAS_PETSC)
  percuss_package(petsc percuss-petsc math "flexible bodies that hit, stick and rebound (several ranks)"
    "${lead} the object by which it runs over several ranks, with MPI\nand PETSc.")
  set(CPACK_DEBIAN_PETSC_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PETSC_PACKAGE_DEPENDS "percuss (= ${package_version})")
endif()

if(TARGET percuss_shared AND EXISTS "${PROJECT_SOURCE_DIR}/python/percuss/__init__.py")
  percuss_package(python python3-percuss python "flexible bodies that hit, stick and rebound (Python 3)"
    "${lead} the Python module and the commands that look at results.")
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

percuss_package(doc percuss-doc doc "flexible bodies that hit, stick and rebound (documentation)"
  "${lead} the tutorial, the manual and the theory.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
install(FILES README.md ARCHITECTURE.md CITATION.cff DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/percuss-doc"
  COMPONENT doc EXCLUDE_FROM_ALL)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/percuss-doc" COMPONENT doc EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg" PATTERN "*.html")

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # cpack packs what is there and builds nothing
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME percuss)
set(CPACK_PACKAGE_CONTACT "${PERCUSS_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has one of its own
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
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
