# Read by setup_environment.py's CMake run through CMAKE_PROJECT_INCLUDE; not needed on a ROS installation.
#
# The message packages of the Python registry export CMake targets whose include folders are those of the machine that built
# the wheels (/opt/python/cp3XX-cp3XX/include/python3.XX and NumPy's below it). CMake stops at an imported target with a
# folder that does not exist. rosidl_generator_py adds the right Python and NumPy folders to our targets itself, so the
# missing ones are dropped: here, when all packages have been found, rather than in the files of the environment.
cmake_language(DEFER CALL _drop_missing_includes)

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
