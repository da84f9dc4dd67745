# percuss_sources(<folder> <word>...) appends source files of a folder to PERCUSS_SOURCES. A word is a file without its
# ending, or a registry <kind>_list.def, whose lines `PCS_X(name)` or `PCS_X(name, file)` stand for files: the same
# list that the C table is made from decides what is compiled.

function(percuss_sources folder)
  set(names "")
  foreach(word IN LISTS ARGN)
    if(word MATCHES "_list\\.def$")
      percuss_read_registry(registered "${folder}/${word}")
      list(APPEND names ${registered})
    else()
      list(APPEND names ${word})
    endif()
  endforeach()
  list(TRANSFORM names REPLACE "(.+)" "${folder}/\\1.c")
  set(PERCUSS_SOURCES ${PERCUSS_SOURCES} ${names} PARENT_SCOPE)
endfunction()

# percuss_read_registry(<variable> <list.def>) sets <variable> to the files that a registry names, without their ending.
function(percuss_read_registry variable list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  file(STRINGS "${list}" lines REGEX "^PCS_[A-Z_]+\\(")
  set(names "")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^PCS_[A-Z_]+\\(([a-z0-9_]+, )?([a-z0-9_]+)\\)$")
      message(FATAL_ERROR "${list}: '${line}' is not of the form PCS_X(name) or PCS_X(name, file)")
    endif()
    list(APPEND names ${CMAKE_MATCH_2})
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(${variable} ${names} PARENT_SCOPE)
endfunction()
