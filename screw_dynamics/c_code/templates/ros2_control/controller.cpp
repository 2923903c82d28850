// @title@
// The controller of ros2_control that carries gravity and holds a configuration; README.md has its parameters.
#include <algorithm>
#include <cmath>
#include <exception>
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
    try {
      auto_declare("joints", std::vector<std::string>(@name@_joint_names, @name@_joint_names + n));
      auto_declare("kp", std::vector<double>(n, 0.0));
      auto_declare("kd", std::vector<double>(n, 0.0));
      auto_declare("reference", std::vector<double>{});
    } catch (const std::exception &error) {   // a parameter of another type, as the whole numbers [10, 10]
      RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
      return CallbackReturn::ERROR;
    }
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

  // Holds where the robot is, unless there is a reference, from now on: the first update may find states held.
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override {
    faulty_ = n;
    if (!read()) {
      RCLCPP_ERROR(get_node()->get_logger(), "states cannot be read");
      return CallbackReturn::FAILURE;
    }
    law_.reference = given_reference_.value_or(q_);
    faulty_ = law_(q_, qd_, efforts_);
    if (faulty_ != n) {
      tell_fault();
      return CallbackReturn::FAILURE;
    }
    missed_ = write() ? 0 : 1;
    return CallbackReturn::SUCCESS;
  }

  // Efforts become 0.
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override {
    tell_fault();
    efforts_.fill(0.0);
    if (!write()) {
      RCLCPP_ERROR(get_node()->get_logger(), "efforts cannot be written: they are not 0");
      return CallbackReturn::ERROR;
    }
    return CallbackReturn::SUCCESS;
  }

  // Allocates nothing. What another thread holds keeps the values of the cycle before, for some cycles at most.
  return_type update(const rclcpp::Time &, const rclcpp::Duration &) override {
    if (read()) {
      faulty_ = law_(q_, qd_, efforts_);
      if (faulty_ != n) {
        return return_type::ERROR;
      }
      if (write()) {
        missed_ = 0;
        return return_type::OK;
      }
    }
    missed_ = std::min(missed_ + 1, most_missed);
    return missed_ < most_missed ? return_type::OK : return_type::ERROR;
  }

 private:
  static constexpr int most_missed = 10;    // cycles in a row in which something was held

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
      const bool finite = std::isfinite(q_[faulty_]) && std::isfinite(qd_[faulty_]);
      RCLCPP_ERROR(get_node()->get_logger(), "the state of joint %s %s: position %g, velocity %g",
        @name@_joint_names[faulty_], finite ? "gives no finite effort" : "is not finite", q_[faulty_], qd_[faulty_]);
    } else if (missed_ == most_missed) {
      RCLCPP_ERROR(get_node()->get_logger(), "states or efforts were held by others in %d cycles in a row", missed_);
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
  std::size_t faulty_ = n;   // the joint whose state or effort was not finite
  int missed_ = 0;           // cycles in a row without new efforts
};

}  // namespace @package@

PLUGINLIB_EXPORT_CLASS(@package@::GravityCompensation, controller_interface::ControllerInterface)
