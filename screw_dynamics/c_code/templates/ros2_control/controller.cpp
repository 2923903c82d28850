// @title@
// The controller of ros2_control that carries gravity and holds a configuration; README.md has its parameters.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/logging.hpp"
#include "@package@/law.hpp"

namespace @package@ {

using controller_interface::CallbackReturn;
using controller_interface::return_type;

class GravityCompensation : public controller_interface::ControllerInterface {
 public:
  CallbackReturn on_init() override {
    const std::vector<std::string> names(@name@_joint_names, @name@_joint_names + n);
    auto_declare("joints", names);
    auto_declare("kp", std::vector<double>(n, 0.0));
    auto_declare("kd", std::vector<double>(n, 0.0));
    auto_declare("reference", std::vector<double>{});
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override {
    try {
      const auto order = order_among(get_node()->get_parameter("joints").as_string_array());
      law_.kp = ordered("kp", numbers("kp"), order, 0.0);
      law_.kd = ordered("kd", numbers("kd"), order, 0.0);
      given_reference_.reset();
      if (!numbers("reference").empty()) {
        given_reference_ = ordered("reference", numbers("reference"), order);
      }
    } catch (const std::exception &error) {
      RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
      return CallbackReturn::FAILURE;
    }
    return CallbackReturn::SUCCESS;
  }

  controller_interface::InterfaceConfiguration command_interface_configuration() const override {
    return interfaces({hardware_interface::HW_IF_EFFORT});
  }

  controller_interface::InterfaceConfiguration state_interface_configuration() const override {
    return interfaces({hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY});
  }

  // Holds where the robot is, unless there is a reference.
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override {
    faulty_ = n;
    if (!read()) {
      RCLCPP_ERROR(get_node()->get_logger(), "states cannot be read");
      return CallbackReturn::FAILURE;
    }
    law_.reference = given_reference_.value_or(q_);
    faulty_ = law_(q_, qd_, efforts_);
    tell_fault();
    return faulty_ == n ? CallbackReturn::SUCCESS : CallbackReturn::FAILURE;
  }

  // Efforts become 0.
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override {
    tell_fault();
    efforts_.fill(0.0);
    if (!write()) {
      RCLCPP_ERROR(get_node()->get_logger(), "efforts cannot be written");
    }
    return CallbackReturn::SUCCESS;
  }

  // Allocates nothing. A state that is being written by another thread leaves the efforts of the cycle before.
  return_type update(const rclcpp::Time &, const rclcpp::Duration &) override {
    if (!read()) {
      return return_type::OK;
    }
    faulty_ = law_(q_, qd_, efforts_);
    return faulty_ == n && write() ? return_type::OK : return_type::ERROR;
  }

 private:
  std::vector<double> numbers(const char *parameter) const {
    return get_node()->get_parameter(parameter).as_double_array();
  }

  // The kinds of interface of each joint, joint after joint.
  static controller_interface::InterfaceConfiguration interfaces(const std::vector<std::string> &kinds) {
    controller_interface::InterfaceConfiguration found{
      controller_interface::interface_configuration_type::INDIVIDUAL, {}};
    for (const char *joint : @name@_joint_names) {
      for (const std::string &kind : kinds) {
        found.names.push_back(std::string(joint) + "/" + kind);
      }
    }
    return found;
  }

  void tell_fault() const {
    if (faulty_ != n) {
      RCLCPP_ERROR(get_node()->get_logger(), "the state of joint %s is not finite: position %g, velocity %g",
        @name@_joint_names[faulty_], q_[faulty_], qd_[faulty_]);
    }
  }

  bool read() {
    for (std::size_t i = 0; i < n; i++) {
      const std::optional<double> q = state_interfaces_[2 * i].get_optional();
      const std::optional<double> qd = state_interfaces_[2 * i + 1].get_optional();
      if (!q || !qd) {
        return false;
      }
      q_[i] = *q;
      qd_[i] = *qd;
    }
    return true;
  }

  bool write() {
    bool written = true;
    for (std::size_t i = 0; i < n; i++) {
      written = command_interfaces_[i].set_value(efforts_[i]) && written;
    }
    return written;
  }

  Law law_;
  std::optional<Array> given_reference_;
  Array q_{}, qd_{}, efforts_{};
  std::size_t faulty_ = n;   // the joint whose state was not finite
};

}  // namespace @package@

PLUGINLIB_EXPORT_CLASS(@package@::GravityCompensation, controller_interface::ControllerInterface)
