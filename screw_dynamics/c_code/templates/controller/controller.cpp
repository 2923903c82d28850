// @title@
// A chainable controller of ros2_control that runs the law @law@; README.md has its interfaces and parameters.
#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/logging.hpp"
#include "@package@/@package@_parameters.hpp"
#include "@package@/law.hpp"

namespace @package@ {

using controller_interface::CallbackReturn;
using controller_interface::return_type;

class @Class@ : public controller_interface::ChainableControllerInterface {
 public:
  CallbackReturn on_init() override {
    try {
      listener_ = std::make_shared<ParamListener>(get_node());
    } catch (const std::exception &error) {   // a parameter of another type, or out of its bounds
      RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
      return CallbackReturn::ERROR;
    }
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override {
    const Params params = listener_->get_params();
    const char *faulty = nullptr;
    const auto number = [&faulty](const char *name, double x) {
      faulty = std::isfinite(x) ? faulty : name;
      return x;
    };
    [[maybe_unused]] const auto array = [&](const char *name, const std::vector<double> &x) {
      Array found{};
      faulty = x.size() == n ? faulty : name;
      for (std::size_t i = 0; i < std::min(n, x.size()); i++) {
        found[i] = number(name, x[i]);
      }
      return found;
    };
@configured@
    const auto or_none = [](double x) { return x > 0.0 ? x : infinity; };
    law_.largest_step = or_none(number("largest_step", params.largest_step));
    law_.reference_timeout = or_none(number("reference_timeout", params.reference_timeout));
    law_.longest_period = or_none(number("longest_period", params.longest_period));
    if (faulty != nullptr) {
      RCLCPP_ERROR(get_node()->get_logger(), "parameter %s must have finite numbers, one for each joint", faulty);
      return CallbackReturn::FAILURE;
    }
    sensor_ = @sensor@;
    if (senses && sensor_.empty()) {
      RCLCPP_ERROR(get_node()->get_logger(), "parameter sensor must be the name of a force-torque sensor");
      return CallbackReturn::FAILURE;
    }
    return CallbackReturn::SUCCESS;
  }

  controller_interface::InterfaceConfiguration command_interface_configuration() const override {
    return interfaces({hardware_interface::HW_IF_EFFORT}, {});
  }

  controller_interface::InterfaceConfiguration state_interface_configuration() const override {
    return interfaces({hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY},
      senses ? std::vector<std::string>{"torque.x", "torque.y", "torque.z", "force.x", "force.y", "force.z"}
             : std::vector<std::string>{});
  }

  // From now on the reference is where the robot is, until a preceding controller sets it.
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override {
    fault_ = Fault::none;
    missed_ = 0;
    efforts_.fill(0.0);
    for (const auto &reference : ordered_exported_reference_interfaces_) {
      (void)reference->set_value(std::numeric_limits<double>::quiet_NaN());
    }
    if (!read()) {
      RCLCPP_ERROR(get_node()->get_logger(), "states cannot be read");
      return CallbackReturn::FAILURE;
    }
    for (std::size_t i = 0; i < n; i++) {
      if (!std::isfinite(q_[i])) {
        RCLCPP_ERROR(get_node()->get_logger(), "the position of joint %s is %g", @name@_joint_names[i], q_[i]);
        return CallbackReturn::FAILURE;
      }
    }
    law_.start(q_);
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

 protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr> on_export_reference_interfaces_list() override {
    std::vector<hardware_interface::CommandInterface::SharedPtr> found;
    const std::string own = get_node()->get_name();
    for (const auto &[component, kind] : input_names) {
      found.push_back(std::make_shared<hardware_interface::CommandInterface>(own + "/" + component, kind));
      (void)found.back()->set_value(std::numeric_limits<double>::quiet_NaN());
    }
    return found;
  }

  // Without a preceding controller the references stay.
  return_type update_reference_from_subscribers(const rclcpp::Time &, const rclcpp::Duration &) override {
    return return_type::OK;
  }

  // Allocates nothing. What another thread holds keeps the values of the cycle before, for some cycles at most.
  return_type update_and_write_commands(const rclcpp::Time &, const rclcpp::Duration &period) override {
    if (read()) {
      fault_ = law_.cycle(period.seconds(), q_, qd_, wrench_, given_, efforts_);
      if (fault_ != Fault::none && fault_ != Fault::period) {
        return return_type::ERROR;
      }
      if (fault_ == Fault::none && write()) {
        missed_ = 0;
        return return_type::OK;
      }
    }
    missed_ = std::min(missed_ + 1, most_missed);
    return missed_ < most_missed ? return_type::OK : return_type::ERROR;
  }

 private:
  static constexpr int most_missed = 10;    // cycles in a row without new efforts

  // The kinds of interface of each joint, joint after joint, and then those of the sensor.
  controller_interface::InterfaceConfiguration interfaces(const std::vector<std::string> &kinds,
      const std::vector<std::string> &of_sensor) const {
    controller_interface::InterfaceConfiguration found{
      controller_interface::interface_configuration_type::INDIVIDUAL, {}};
    for (const char *joint : @name@_joint_names) {
      for (const std::string &kind : kinds) {
        found.names.push_back(std::string(joint) + "/" + kind);
      }
    }
    for (const std::string &kind : of_sensor) {
      found.names.push_back(sensor_ + "/" + kind);
    }
    return found;
  }

  void tell_fault() const {
    const auto logger = get_node()->get_logger();
    const std::size_t i = law_.joint;
    if (fault_ == Fault::state || fault_ == Fault::effort) {
      RCLCPP_ERROR(logger, "the state of joint %s %s: position %g, velocity %g", @name@_joint_names[i],
        fault_ == Fault::state ? "is not finite" : "gives no finite effort", q_[i], qd_[i]);
    } else if (fault_ == Fault::input || fault_ == Fault::jump) {
      RCLCPP_ERROR(logger, "the reference %s/%s is %g, %s", input_names[i][0], input_names[i][1], given_[i],
        fault_ == Fault::input ? "which is no valid number" : "too far from the one before (parameter largest_step)");
    } else if (missed_ == most_missed) {
      RCLCPP_ERROR(logger, "in %d cycles in a row states or efforts were held by others, or periods out of range",
        missed_);
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
    for (std::size_t i = 0; senses && i < wrench_.size(); i++) {
      const std::optional<double> x = state_interfaces_[2 * n + i].get_optional();
      if (!x) {
        return false;
      }
      wrench_[i] = *x;
    }
    for (std::size_t i = 0; i < inputs; i++) {
      given_[i] = ordered_exported_reference_interfaces_[i]->get_optional().value_or(given_[i]);
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

  std::shared_ptr<ParamListener> listener_;
  std::string sensor_;
  Law law_;
  Array q_{}, qd_{}, efforts_{};
  Wrench wrench_{};
  Inputs given_{};
  Fault fault_ = Fault::none;
  int missed_ = 0;           // cycles in a row without new efforts
};

}  // namespace @package@

PLUGINLIB_EXPORT_CLASS(@package@::@Class@, controller_interface::ChainableControllerInterface)
