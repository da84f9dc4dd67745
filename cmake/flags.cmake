# How everything is compiled. Gives the target percuss_flags.
#
# Asserts guard against bugs and stay in every build; -std=c17 alone would switch fused multiply-add off.
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

set(sanitizers "")
if(PERCUSS_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(PERCUSS_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread -fno-omit-frame-pointer)
elseif(PERCUSS_SANITIZE)
  message(FATAL_ERROR "PERCUSS_SANITIZE is OFF, address or thread, not '${PERCUSS_SANITIZE}'")
endif()

# Functions of tables take what the table says, whether they need it or not: unused parameters are no mistake.
add_library(percuss_flags INTERFACE)
target_compile_options(percuss_flags INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wpedantic -Wshadow -Wconversion -Wvla -Wmissing-prototypes
  -ffp-contract=${PERCUSS_CONTRACT}
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
  $<$<BOOL:${PERCUSS_WERROR}>:-Werror>
  $<$<BOOL:${PERCUSS_NATIVE}>:-march=native>
  $<$<BOOL:${PERCUSS_ROUNDING}>:-frounding-math>
  ${sanitizers})
target_link_options(percuss_flags INTERFACE ${sanitizers})

# Damage to the stack and writes beyond a buffer end the program, and addresses of functions are fixed before it starts.
# Sanitizers see more; checked printing would go past the wrappers of rounding modes, and needs an optimising compiler.
if(NOT PERCUSS_SANITIZE)
  target_compile_options(percuss_flags INTERFACE -fstack-protector-strong)
  if(NOT PERCUSS_ROUNDING)
    target_compile_options(percuss_flags INTERFACE
      $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  endif()
  target_link_options(percuss_flags INTERFACE LINKER:-z,relro LINKER:-z,now)
  # What runs in every step, in many small functions, guards buffers of text only: all else costs small models 2 %.
  set(stepped ${PERCUSS_SOURCES})
  list(FILTER stepped INCLUDE REGEX
    "/(linsolve|rows|system|fe|closed_form|step|schemes)/|elements/|sim/[^c]|sim/certify|/(clock|matrix|pool)")
  set_property(SOURCE ${stepped} APPEND PROPERTY COMPILE_OPTIONS -fstack-protector)
endif()

# Structs of a few hundred bytes, reports and problems of every step, are cleared and copied by plain stores: the string
# instructions that gcc takes for them on x86-64 need some thirty cycles each to get going.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  foreach(kind memset memcpy)
    target_compile_options(percuss_flags INTERFACE -m${kind}-strategy=vector_loop:512:noalign,libcall:-1:noalign)
  endforeach()
endif()

# percuss_link_into_programs(<name> <source>): compiled into whatever is linked, not into the library.
function(percuss_link_into_programs name source)
  add_library(${name} OBJECT ${source})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(percuss_flags INTERFACE $<TARGET_OBJECTS:${name}>)
  add_dependencies(percuss_flags ${name})
endfunction()

if(PERCUSS_ROUNDING)
  percuss_link_into_programs(percuss_rounding tests/variants/rounding.c)
  target_link_options(percuss_flags INTERFACE LINKER:--wrap=strtod LINKER:--wrap=snprintf LINKER:--wrap=vsnprintf
    LINKER:--wrap=fprintf)
endif()
if(PERCUSS_SANITIZE STREQUAL "thread")
  percuss_link_into_programs(percuss_threads tests/variants/threads.c)
endif()
