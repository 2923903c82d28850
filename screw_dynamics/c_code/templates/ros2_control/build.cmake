# @title@
cmake_minimum_required(VERSION 3.16)
project(@package@ LANGUAGES C CXX)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
find_package(ament_cmake REQUIRED)
find_package(controller_interface REQUIRED)
find_package(hardware_interface REQUIRED)
find_package(pluginlib REQUIRED)
find_package(rclcpp REQUIRED)
find_package(rclcpp_lifecycle REQUIRED)
find_package(inverse_dynamics_solver QUIET)

set(BUILD_SHARED_LIBS OFF)
add_subdirectory(@name@ EXCLUDE_FROM_ALL)

function(add_plugin library source)
  add_library(${library} SHARED ${source})
  target_compile_features(${library} PRIVATE cxx_std_17)
  target_compile_options(${library} PRIVATE -Wall -Wextra -Wpedantic)
  target_include_directories(${library} PRIVATE include)
  target_link_libraries(${library} PRIVATE @name@::@name@ ${ARGN})
  install(TARGETS ${library} DESTINATION lib)
endfunction()

add_plugin(@package@_controller src/controller.cpp controller_interface::controller_interface
  hardware_interface::hardware_interface pluginlib::pluginlib rclcpp::rclcpp rclcpp_lifecycle::rclcpp_lifecycle)
pluginlib_export_plugin_description_file(controller_interface @package@_controller.xml)

if(inverse_dynamics_solver_FOUND)
  find_package(Eigen3 REQUIRED)
  add_plugin(@package@_solver src/solver.cpp pluginlib::pluginlib rclcpp::rclcpp Eigen3::Eigen)
  target_include_directories(@package@_solver SYSTEM PRIVATE ${inverse_dynamics_solver_INCLUDE_DIRS})
  pluginlib_export_plugin_description_file(inverse_dynamics_solver @package@_solver.xml)
else()
  message(STATUS "No inverse_dynamics_solver: src/solver.cpp is not built")
endif()

install(DIRECTORY config DESTINATION share/${PROJECT_NAME})
ament_package()
