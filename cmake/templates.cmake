# Cases to start from, src/new/NAME.yaml, as lines { "NAME", "text" } of a table of C for `percuss new`.

set(table "")
foreach(name bar pendulum two_bars frame rotor)
  set(file "${CMAKE_CURRENT_SOURCE_DIR}/src/new/${name}.yaml")
  file(READ "${file}" text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n\"" text "${text}")
  string(APPEND table "{ \"${name}\", \"${text}\" },\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/new_cases.def" CONTENT "${table}" @ONLY)
target_include_directories(percuss_program PRIVATE "${CMAKE_BINARY_DIR}/generated")
