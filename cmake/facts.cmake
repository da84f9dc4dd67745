# What `percuss --version` tells of the build: flags without folders of the machine, versions of libraries that do not
# tell their own.

string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
get_target_property(options percuss_flags INTERFACE_COMPILE_OPTIONS)
set(flags ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}} -std=c17)
foreach(option IN LISTS options)
  if(option MATCHES "^-[fm]" AND NOT option MATCHES "=.*/")
    list(APPEND flags ${option})
  endif()
endforeach()
if(PERCUSS_NATIVE)
  list(APPEND flags -march=native)
endif()
list(JOIN flags " " flags)
string(REGEX REPLACE "[^ ]*/[^ ]*" "" flags "${flags}")

set(petsc none)
if(PERCUSS_HAS_PETSC)
  set(petsc "${PETSC_VERSION}, loaded when a run asks for it")
endif()
set_source_files_properties(src/main.c PROPERTIES COMPILE_DEFINITIONS
  "PERCUSS_BUILD=\"${CMAKE_BUILD_TYPE}, ${CMAKE_SYSTEM_PROCESSOR}, ${flags}\";PERCUSS_ARPACK=\"${ARPACK_VERSION}\"\
;PERCUSS_PETSC_VERSION=\"${petsc}\"")
