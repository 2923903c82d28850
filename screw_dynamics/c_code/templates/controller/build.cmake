# @title@
cmake_minimum_required(VERSION 3.16)
project(@package@ LANGUAGES C CXX)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
find_package(ament_cmake REQUIRED)
find_package(controller_interface REQUIRED)
find_package(generate_parameter_library REQUIRED)
find_package(hardware_interface REQUIRED)
find_package(pluginlib REQUIRED)
find_package(rclcpp REQUIRED)
find_package(rclcpp_lifecycle REQUIRED)

set(BUILD_SHARED_LIBS OFF)
add_subdirectory(@name@ EXCLUDE_FROM_ALL)
generate_parameter_library(@package@_parameters src/@package@_parameters.yaml)

add_library(@package@ SHARED src/controller.cpp)
target_compile_features(@package@ PRIVATE cxx_std_17)
target_compile_options(@package@ PRIVATE -Wall -Wextra -Wpedantic)
target_include_directories(@package@ PRIVATE include)
target_link_libraries(@package@ PRIVATE @package@_parameters @name@::@name@
  controller_interface::controller_interface hardware_interface::hardware_interface pluginlib::pluginlib
  rclcpp::rclcpp rclcpp_lifecycle::rclcpp_lifecycle)
install(TARGETS @package@ DESTINATION lib)
pluginlib_export_plugin_description_file(controller_interface @package@.xml)

if(BUILD_TESTING)   # the C of the law against the law in Python
  enable_testing()
  add_executable(@name@_self_test @name@/test/self_test.c)
  target_link_libraries(@name@_self_test PRIVATE @name@::@name@)
  add_test(NAME @name@_self_test COMMAND @name@_self_test)
endif()

install(DIRECTORY config DESTINATION share/${PROJECT_NAME})
ament_package()
