// @title@
// The law of the controller, without ROS: it checks inputs, runs the exported C, and limits efforts.
#ifndef @PACKAGE@_LAW_HPP
#define @PACKAGE@_LAW_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "@name@/@name@.h"

namespace @package@ {

constexpr std::size_t n = @NAME@_N;
constexpr double infinity = std::numeric_limits<double>::infinity();
using Array = std::array<double, n>;
using Pose = std::array<double, 16>;      // homogeneous matrix, row after row
using Wrench = std::array<double, 6>;     // torque, force

// Of each joint: the limit of effort (N m or N), and whether it is continuous.
constexpr Array effort_limits = {@efforts@};
constexpr std::array<bool, n> turns_freely = {@freely@};

// What preceding controllers may set: component and interface of each number. NaN: not set.
constexpr std::size_t inputs = @inputs@;
using Inputs = std::array<double, inputs>;
constexpr std::array<std::array<const char *, 2>, inputs> input_names = {{
@input_names@
}};
constexpr bool senses = @senses@;         // the law reads a force-torque sensor

struct Parameters {
@parameters@
};

struct Reference {
@references@
};

struct State {
@states@
};

// None, or why a cycle has no efforts: a period out of range; a state, an input or an effort that is not finite; an
// input that is too far from the one before.
enum class Fault { none, period, state, input, jump, effort };

class Law {
 public:
  Parameters parameters;
  double largest_step = infinity;       // rad or m, of a reference position in a cycle
  double reference_timeout = infinity;  // s without a new reference, after which it stands still
  double longest_period = infinity;     // s
  std::size_t joint = n;                // the joint of a fault, or the input

  // Starts anew, with the robot at rest at q as the reference.
  void start(const Array &q) noexcept {
    state_ = {};
    reference_ = {};
    last_.fill(std::numeric_limits<double>::quiet_NaN());
    time_ = unchanged_ = 0.0;
    joint = n;
@rest@
  }

  // Writes efforts, or leaves them and returns the fault. Allocates nothing.
  Fault cycle(double dt, const Array &q, const Array &qd, const Wrench &wrench, const Inputs &given, Array &efforts)
      noexcept {
    if (!(dt > 0.0 && dt <= longest_period)) {
      return Fault::period;
    }
    for (std::size_t i = 0; i < n; i++) {
      joint = i;
      if (!std::isfinite(q[i]) || !std::isfinite(qd[i])) {
        return Fault::state;
      }
    }
    for (joint = 0; joint < inputs; joint++) {
      if (std::isinf(given[joint])) {
        return Fault::input;
      }
    }
    unchanged_ = same(given) ? unchanged_ + dt : 0.0;
    last_ = given;
    Reference reference = reference_;
    Fault fault = Fault::none;
@taken@
    if (fault != Fault::none) {
      return fault;
    }
    reference_ = reference;
    if (unchanged_ > reference_timeout) {
@stopped@
    }
@sensed@
    State next = state_;
    Array found{};
@call@
    for (std::size_t i = 0; i < n; i++) {
      joint = i;
      if (!std::isfinite(found[i])) {
        return Fault::effort;
      }
      found[i] = std::clamp(found[i], -effort_limits[i], effort_limits[i]);
    }
    joint = n;
    state_ = next;
    time_ += dt;
    efforts = found;
    return Fault::none;
  }

 private:
  bool same(const Inputs &given) const noexcept {
    for (std::size_t i = 0; i < inputs; i++) {
      if (given[i] != last_[i] && !(std::isnan(given[i]) && std::isnan(last_[i]))) {
        return false;
      }
    }
    return true;
  }

  // The numbers for the joints from `first` on; positions are near those of q for continuous joints.
  [[maybe_unused]] Fault take(const Inputs &given, std::size_t first, Array &x, double largest, const double *q)
      noexcept {
    for (std::size_t i = 0; i < n; i++) {
      const double wanted = given[first + i];
      double step = wanted - x[i];
      if (q != nullptr && turns_freely[i]) {
        step = std::remainder(step, 2.0 * 3.14159265358979323846);
      }
      if (std::abs(step) > largest) {
        joint = first + i;
        return Fault::jump;
      }
      x[i] = std::isnan(wanted) ? x[i] : wanted;
      if (q != nullptr && turns_freely[i]) {
        x[i] = q[i] + std::remainder(x[i] - q[i], 2.0 * 3.14159265358979323846);
      }
    }
    return Fault::none;
  }

  // A position and a unit quaternion x y z w, of which all are set or none is.
  [[maybe_unused]] Fault take(const Inputs &given, std::size_t first, Pose &x, double largest) noexcept {
    const double *p = given.data() + first, *h = p + 3;
    joint = first;
    const double norm = std::sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2] + h[3] * h[3]);
    if (std::isnan(p[0] + p[1] + p[2] + norm)) {
      return Fault::none;
    }
    if (std::abs(norm - 1.0) > 1e-3) {
      return Fault::input;
    }
    for (std::size_t i = 0; i < 3; i++) {
      if (std::abs(p[i] - x[4 * i + 3]) > largest) {
        joint = first + i;
        return Fault::jump;
      }
    }
    const double a = h[0] / norm, b = h[1] / norm, c = h[2] / norm, w = h[3] / norm;
    x = {1.0 - 2.0 * (b * b + c * c), 2.0 * (a * b - c * w), 2.0 * (a * c + b * w), p[0],
         2.0 * (a * b + c * w), 1.0 - 2.0 * (a * a + c * c), 2.0 * (b * c - a * w), p[1],
         2.0 * (a * c - b * w), 2.0 * (b * c + a * w), 1.0 - 2.0 * (a * a + b * b), p[2],
         0.0, 0.0, 0.0, 1.0};
    return Fault::none;
  }

  Reference reference_;
  State state_;
  Inputs last_{};
  double time_ = 0.0, unchanged_ = 0.0;
};

}  // namespace @package@

#endif
