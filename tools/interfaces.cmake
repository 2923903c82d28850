# Read by setup_environment.py's CMake run through CMAKE_PROJECT_INCLUDE; not needed on a ROS installation.
cmake_language(DEFER CALL _drop_missing_includes)
cmake_language(DEFER CALL _compile_as_one)

# C++ nodes do not run here: what the generators for C++ register is taken off again, a third of what there is to build.
macro(find_package)
  _find_package(${ARGV})
  list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
endmacro()

# The message packages of the Python registry export CMake targets whose include folders are those of the machine that built
# the wheels (/opt/python/cp3XX-cp3XX/include/python3.XX and NumPy's below it). CMake stops at an imported target with a
# folder that does not exist. rosidl_generator_py adds the right Python and NumPy folders to our targets itself, so the
# missing ones are dropped: here, when all packages have been found, rather than in the files of the environment.
function(_drop_missing_includes)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(folders MATCHES "/opt/python/")
      list(FILTER folders EXCLUDE REGEX "^/opt/python/")
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${folders}")
    endif()
  endforeach()
endfunction()

# Nearly all of the time goes into headers that every message reads again: the files of a type support are compiled as
# one.
function(_compile_as_one)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(kind ${target} TYPE)
    if(kind STREQUAL "SHARED_LIBRARY" AND target MATCHES "__rosidl_typesupport_")
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
  endforeach()
endfunction()
