# @title@
# Builds, tests and installs @name@; find_package(@name@) and @name@::@name@ use it.
cmake_minimum_required(VERSION 3.16)
project(@name@ VERSION 1.0.0 LANGUAGES C)

# Where this folder is part of another project, that has its own kind of build.
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Without this option results are the same bits on every processor; with it functions take less time.
option(@NAME@_NATIVE "Compile for this processor, with fused products and sums" OFF)
option(@NAME@_BENCHMARK "Build a program that measures the functions" OFF)

add_library(@name@ src/@name@.c)
add_library(@name@::@name@ ALIAS @name@)
set_target_properties(@name@ PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
  POSITION_INDEPENDENT_CODE ON)
target_include_directories(@name@ PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(@name@ PRIVATE -Wall -Wextra -Wconversion -pedantic -fno-math-errno
    $<$<CONFIG:Release>:-O3> $<IF:$<BOOL:${@NAME@_NATIVE}>,-march=native;-ffp-contract=fast,-ffp-contract=off>)
endif()
find_library(@NAME@_LIBM m)
mark_as_advanced(@NAME@_LIBM)
if(@NAME@_LIBM)
  target_link_libraries(@name@ PUBLIC m)
endif()

install(TARGETS @name@ EXPORT @name@Targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/@name@)
install(EXPORT @name@Targets NAMESPACE @name@:: FILE @name@Config.cmake DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/@name@ConfigVersion.cmake COMPATIBILITY SameMajorVersion)
file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH libraries ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH headers ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(@name@.pc.in @name@.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/@name@ConfigVersion.cmake DESTINATION ${package})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/@name@.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  include(CTest)
  if(BUILD_TESTING)
    add_executable(@name@_self_test test/self_test.c)
    set_target_properties(@name@_self_test PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
    target_link_libraries(@name@_self_test PRIVATE @name@)
    add_test(NAME @name@_self_test COMMAND @name@_self_test)
  endif()
endif()
if(@NAME@_BENCHMARK)
  add_executable(@name@_benchmark test/benchmark.c)
  target_link_libraries(@name@_benchmark PRIVATE @name@)
endif()
