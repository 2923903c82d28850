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

  // Writes efforts and returns n, or leaves them and returns the first joint whose position, velocity or effort is not
  // finite. Allocates nothing.
  std::size_t operator()(const Array &q, const Array &qd, Array &efforts) const noexcept {
    for (std::size_t i = 0; i < n; i++) {
      if (!std::isfinite(q[i]) || !std::isfinite(qd[i])) {
        return i;
      }
    }
    Array found{};
    @name@_gravity_torque(q.data(), found.data());
    for (std::size_t i = 0; i < n; i++) {
      const double e = reference[i] - q[i];
      const double nearest = turns_freely[i] ? std::remainder(e, 2.0 * 3.14159265358979323846) : e;
      const double effort = found[i] + kp[i] * nearest - kd[i] * qd[i];
      if (!std::isfinite(effort)) {   // of a state that no robot has, the products overflow
        return i;
      }
      found[i] = std::clamp(effort, -effort_limits[i], effort_limits[i]);
    }
    efforts = found;
    return n;
  }
};

}  // namespace @package@

#endif
