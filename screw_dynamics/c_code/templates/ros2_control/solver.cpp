// @title@
// A plugin of inverse_dynamics_solver. Vectors are in the order of the parameter joints, if there is one in the
// namespace of initialize, and of the export otherwise.
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#if __has_include("inverse_dynamics_solver/inverse_dynamics_solver.hpp")   // since its version 1.0.0
#include "inverse_dynamics_solver/exceptions.hpp"
#include "inverse_dynamics_solver/inverse_dynamics_solver.hpp"
#else
#include "inverse_dynamics_solver/exceptions.h"
#include "inverse_dynamics_solver/inverse_dynamics_solver.h"
#endif
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/parameter.hpp"
#include "@package@/law.hpp"

namespace @package@ {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class Solver : public inverse_dynamics_solver::InverseDynamicsSolver {
 public:
  // The robot is the exported one; of a description nothing is read.
  void initialize(rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr parameters,
      const std::string &name_space, const std::string &) override {
    initialized_ = false;
    const std::string parameter = name_space.empty() ? "joints" : name_space + ".joints";
    std::vector<std::string> names(@name@_joint_names, @name@_joint_names + n);
    try {
      if (parameters && parameters->has_parameter(parameter)) {
        rclcpp::Parameter given;
        parameters->get_parameter(parameter, given);
        names = given.as_string_array();
      }
      order_ = order_among(names);
    } catch (const std::exception &error) {   // other names, or no names
      throw inverse_dynamics_solver::InvalidParameterValueException(parameter + ": " + error.what());
    }
    initialized_ = true;
  }

  MatrixXd getInertiaMatrix(const VectorXd &q) const override {
    const Array q_own = own("joint_positions", q);
    std::array<double, n * n> M{};
    @name@_mass_matrix(q_own.data(), M.data());
    MatrixXd found(n, n);
    for (std::size_t i = 0; i < n; i++) {
      for (std::size_t j = 0; j < n; j++) {
        found(place(i), place(j)) = M[i * n + j];
      }
    }
    return found;
  }

  VectorXd getCoriolisVector(const VectorXd &q, const VectorXd &qd) const override {
    const Array q_own = own("joint_positions", q), qd_own = own("joint_velocities", qd);
    Array tau{};
    @name@_coriolis_torque(q_own.data(), qd_own.data(), tau.data());
    return given(tau);
  }

  VectorXd getGravityVector(const VectorXd &q) const override {
    const Array q_own = own("joint_positions", q);
    Array tau{};
    @name@_gravity_torque(q_own.data(), tau.data());
    return given(tau);
  }

  // Damping and dry friction of the description.
  VectorXd getFrictionVector(const VectorXd &qd) const override {
    const Array qd_own = own("joint_velocities", qd);
    Array tau{};
    @name@_friction_torque(qd_own.data(), tau.data());
    return given(tau);
  }

  // Without friction, as the interface has it.
  VectorXd getTorques(const VectorXd &q, const VectorXd &qd, const VectorXd &qdd) const override {
    const Array q_own = own("joint_positions", q), qd_own = own("joint_velocities", qd);
    const Array qdd_own = own("joint_accelerations", qdd);
    Array tau{};
    @name@_inverse_dynamics(q_own.data(), qd_own.data(), qdd_own.data(), tau.data());
    return given(tau);
  }

 private:
  Eigen::Index place(std::size_t i) const {
    return static_cast<Eigen::Index>(order_[i]);
  }

  // A vector in the order of the export.
  Array own(const char *what, const VectorXd &x) const {
    if (!initialized_) {
      throw inverse_dynamics_solver::UninitializedException();
    }
    if (x.size() != static_cast<Eigen::Index>(n)) {
      throw std::invalid_argument(std::string(what) + " has " + std::to_string(x.size()) + " numbers, not " +
        std::to_string(n));
    }
    Array found{};
    for (std::size_t i = 0; i < n; i++) {
      found[i] = x[place(i)];
    }
    return found;
  }

  // And back.
  VectorXd given(const Array &x) const {
    VectorXd found(n);
    for (std::size_t i = 0; i < n; i++) {
      found[place(i)] = x[i];
    }
    return found;
  }

  std::array<std::size_t, n> order_{};
  bool initialized_ = false;
};

}  // namespace @package@

PLUGINLIB_EXPORT_CLASS(@package@::Solver, inverse_dynamics_solver::InverseDynamicsSolver)
