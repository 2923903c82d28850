"""The controller of a package for ros2_control: its law, without ROS, and the plugin that calls it."""
import math

from .layout import Export
from .printing import WIDTH, wrapped

LAW = """\
// @title@
// The law of the controller, without ROS: efforts = g(q) + kp (reference - q) - kd qd, within the limits of effort.
#ifndef @PACKAGE@_LAW_HPP
#define @PACKAGE@_LAW_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "@name@/@name@.h"

namespace @package@ {

constexpr std::size_t n = @NAME@_N;
constexpr double infinity = std::numeric_limits<double>::infinity();
using Array = std::array<double, n>;

// Of each joint, in the order of the export: the limit of effort (N m or N), and whether it is continuous.
constexpr Array effort_limits = {@efforts@};
constexpr std::array<bool, n> turns_freely = {@freely@};

// Where each joint of the export is among names; std::invalid_argument has each that is missing, unknown or there
// twice.
inline std::array<std::size_t, n> order_among(const std::vector<std::string> &names) {
  std::string faults;
  for (std::size_t i = 0; i < names.size(); i++) {
    if (std::find(@name@_joint_names, @name@_joint_names + n, names[i]) == @name@_joint_names + n) {
      faults += " unknown: " + names[i] + ";";
    } else if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      faults += " twice: " + names[i] + ";";
    }
  }
  std::array<std::size_t, n> order{};
  for (std::size_t i = 0; i < n; i++) {
    const auto found = std::find(names.begin(), names.end(), @name@_joint_names[i]);
    if (found == names.end()) {
      faults += std::string(" missing: ") + @name@_joint_names[i] + ";";
    }
    order[i] = static_cast<std::size_t>(found - names.begin());
  }
  if (!faults.empty()) {
    throw std::invalid_argument("joints differ from those of the exported robot:" + faults);
  }
  return order;
}

// Numbers in another order of joints, in that of the export; std::invalid_argument for too few, too many, and what is
// not finite or below lowest.
inline Array ordered(const std::string &what, const std::vector<double> &given, const std::array<std::size_t, n> &order,
    double lowest = -infinity) {
  if (given.size() != n) {
    throw std::invalid_argument(what + " has " + std::to_string(given.size()) + " numbers, not " + std::to_string(n));
  }
  Array found{};
  for (std::size_t i = 0; i < n; i++) {
    found[i] = given[order[i]];
    if (!std::isfinite(found[i]) || found[i] < lowest) {
      throw std::invalid_argument(what + " of " + @name@_joint_names[i] + " is " + std::to_string(found[i]));
    }
  }
  return found;
}

struct Law {
  Array kp{}, kd{}, reference{};

  // Writes efforts and returns n, or leaves them and returns the first joint whose position or velocity is not finite.
  // Allocates nothing.
  std::size_t operator()(const Array &q, const Array &qd, Array &efforts) const noexcept {
    for (std::size_t i = 0; i < n; i++) {
      if (!std::isfinite(q[i]) || !std::isfinite(qd[i])) {
        return i;
      }
    }
    @name@_gravity_torque(q.data(), efforts.data());
    for (std::size_t i = 0; i < n; i++) {
      const double e = reference[i] - q[i];
      const double nearest = turns_freely[i] ? std::remainder(e, 2.0 * 3.14159265358979323846) : e;
      efforts[i] = std::clamp(efforts[i] + kp[i] * nearest - kd[i] * qd[i], -effort_limits[i], effort_limits[i]);
    }
    return n;
  }
};

}  // namespace @package@

#endif
"""

CONTROLLER = """\
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
"""


def law(export: Export, package: str) -> str:
    """The text of law.hpp."""
    model = export.robot.model
    limits = ", ".join(repr(float(x)) if math.isfinite(x) else "infinity" for x in model.effort_limit)
    free = ", ".join(str(kind == "continuous").lower() for kind in model.joint_kinds)
    text = filled(LAW, export, package).replace("@efforts@", limits).replace("@freely@", free)
    return "\n".join(part for line in text.splitlines()
                     for part in (wrapped(line, WIDTH) if line.startswith("constexpr") else [line])) + "\n"


def controller(export: Export, package: str) -> str:
    """The text of controller.cpp."""
    return filled(CONTROLLER, export, package)


def filled(text: str, export: Export, package: str) -> str:
    """A text of the package with its names."""
    for name, part in {"title": export.title, "name": export.name, "NAME": export.name.upper(), "package": package,
                       "PACKAGE": package.upper()}.items():
        text = text.replace(f"@{name}@", part)
    return text
