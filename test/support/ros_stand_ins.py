"""Stand-ins for the few classes of ROS, ros2_control, inverse_dynamics_solver and Eigen that an exported package calls,
so that its sources are compiled and run where none of these is. Only the real ones show that it fits them."""
from pathlib import Path

CONTROLLER = """
#pragma once
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>
inline char told[1000];     // what was logged last
#define RCLCPP_ERROR(logger, ...) ((void)(logger), std::snprintf(told, sizeof told, __VA_ARGS__))
namespace rclcpp {
struct Time {};
struct Duration { double s = 0.0; double seconds() const { return s; } };
}
namespace rclcpp_lifecycle { struct State {}; }
namespace hardware_interface {
constexpr char HW_IF_POSITION[] = "position", HW_IF_VELOCITY[] = "velocity", HW_IF_EFFORT[] = "effort";
struct LoanedStateInterface {
  const double *value;      // none: another thread writes it
  std::optional<double> get_optional() const { return value ? std::optional<double>(*value) : std::nullopt; }
};
struct LoanedCommandInterface {
  double *value;            // none: another thread holds it
  [[nodiscard]] bool set_value(const double &x) {
    if (value) {
      *value = x;
    }
    return value;
  }
};
class CommandInterface {
 public:
  using SharedPtr = std::shared_ptr<CommandInterface>;
  CommandInterface(const std::string &prefix, const std::string &name) : name(prefix + "/" + name) {}
  [[nodiscard]] std::optional<double> get_optional() const { return value; }
  [[nodiscard]] bool set_value(double x) { value = x; return true; }
  std::string name;
 private:
  double value = 0.0;
};
}
namespace controller_interface {
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class return_type { OK, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration { interface_configuration_type type; std::vector<std::string> names; };
struct Parameter {
  std::vector<std::string> names;
  std::vector<double> numbers;
  std::vector<std::string> as_string_array() const { return names; }
  std::vector<double> as_double_array() const { return numbers; }
};
struct Node {
  std::map<std::string, Parameter> parameters;
  std::string of_another_type;      // the parameter for which the manager has one of another type
  Parameter get_parameter(const std::string &name) const { return parameters.at(name); }
  int get_logger() const { return 0; }
  const char *get_name() const { return "own"; }
};
class ControllerInterface {
 public:
  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;
  std::shared_ptr<Node> get_node() const { return node_; }
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;
 protected:
  void auto_declare(const std::string &name, const std::vector<std::string> &x) { declare(name, Parameter{x, {}}); }
  void auto_declare(const std::string &name, const std::vector<double> &x) { declare(name, Parameter{{}, x}); }
 private:
  void declare(const std::string &name, const Parameter &x) {
    if (name == node_->of_another_type) {
      throw std::runtime_error("parameter '" + name + "' has invalid type");
    }
    node_->parameters.emplace(name, x);
  }
  std::shared_ptr<Node> node_ = std::make_shared<Node>();
};
class ChainableControllerInterface : public ControllerInterface {
 public:
  return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) final {
    const return_type found = update_reference_from_subscribers(time, period);
    return found == return_type::OK ? update_and_write_commands(time, period) : found;
  }
  auto export_reference_interfaces() {
    return ordered_exported_reference_interfaces_ = on_export_reference_interfaces_list();
  }
 protected:
  virtual std::vector<hardware_interface::CommandInterface::SharedPtr> on_export_reference_interfaces_list() = 0;
  virtual return_type update_reference_from_subscribers(const rclcpp::Time &, const rclcpp::Duration &) = 0;
  virtual return_type update_and_write_commands(const rclcpp::Time &, const rclcpp::Duration &) = 0;
  std::vector<hardware_interface::CommandInterface::SharedPtr> ordered_exported_reference_interfaces_;
};
}
"""

SOLVER = """
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
namespace Eigen {
using Index = std::ptrdiff_t;
class VectorXd : public std::vector<double> {
 public:
  explicit VectorXd(std::size_t n) : std::vector<double>(n) {}
  Index size() const { return static_cast<Index>(std::vector<double>::size()); }
  double &operator[](Index i) { return at(static_cast<std::size_t>(i)); }
  double operator[](Index i) const { return at(static_cast<std::size_t>(i)); }
};
class MatrixXd {
 public:
  MatrixXd(std::size_t rows, std::size_t columns) : columns_(columns), numbers(rows * columns) {}
  double &operator()(Index i, Index j) {
    return numbers.at(static_cast<std::size_t>(i) * columns_ + static_cast<std::size_t>(j));
  }
 private:
  std::size_t columns_;
 public:
  std::vector<double> numbers;
};
}
namespace rclcpp {
struct Parameter {
  std::vector<std::string> names;
  bool of_another_type = false;
  std::vector<std::string> as_string_array() const {
    if (of_another_type) {
      throw std::runtime_error("expected [string_array] got [string]");
    }
    return names;
  }
};
namespace node_interfaces {
struct NodeParametersInterface {
  using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>;
  std::map<std::string, Parameter> parameters;
  bool has_parameter(const std::string &name) const { return parameters.count(name) > 0; }
  bool get_parameter(const std::string &name, Parameter &x) const { x = parameters.at(name); return true; }
};
}
}
namespace inverse_dynamics_solver {
struct InvalidParameterValueException : std::runtime_error { using std::runtime_error::runtime_error; };
struct UninitializedException : std::runtime_error { UninitializedException() : std::runtime_error("none") {} };
class InverseDynamicsSolver {
 public:
  virtual ~InverseDynamicsSolver() = default;
  virtual void initialize(rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr, const std::string &,
      const std::string &) = 0;
  virtual Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd &) const = 0;
  virtual Eigen::VectorXd getCoriolisVector(const Eigen::VectorXd &, const Eigen::VectorXd &) const = 0;
  virtual Eigen::VectorXd getGravityVector(const Eigen::VectorXd &) const = 0;
  virtual Eigen::VectorXd getFrictionVector(const Eigen::VectorXd &) const = 0;
  virtual Eigen::VectorXd getTorques(const Eigen::VectorXd &, const Eigen::VectorXd &,
      const Eigen::VectorXd &) const = 0;
};
}
"""

HEADERS = {
    "controller_interface/controller_interface.hpp": CONTROLLER,
    "controller_interface/chainable_controller_interface.hpp": CONTROLLER, "rclcpp/logging.hpp": CONTROLLER,
    "hardware_interface/types/hardware_interface_type_values.hpp": CONTROLLER, "rclcpp/parameter.hpp": SOLVER,
    "pluginlib/class_list_macros.hpp": "#define PLUGINLIB_EXPORT_CLASS(own, base) base *made() { return new own; }\n"}
SOLVER_HEADERS = "inverse_dynamics_solver", "exceptions"


def write_stand_ins(folder: Path) -> Path:
    """Write the headers below a folder, and return it. Those of several names are one file, which others include."""
    for name, text in {"controller.hpp": CONTROLLER, "solver.hpp": SOLVER}.items():
        (folder / name).write_text(text)
    whole = {CONTROLLER: '#include "controller.hpp"\n', SOLVER: '#include "solver.hpp"\n'}
    for name, text in HEADERS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(whole.get(text, text))
    return folder


def write_solver_headers(folder: Path, ending: str) -> Path:
    """Write the headers of inverse_dynamics_solver below a folder, ending in .h as before its version 1.0.0, or in
    .hpp, and return it."""
    for name in SOLVER_HEADERS:
        path = folder / "inverse_dynamics_solver" / (name + ending)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#include "solver.hpp"\n')
    return folder
