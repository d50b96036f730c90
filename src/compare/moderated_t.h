#pragma once

#include <span>
#include <vector>

namespace fathom::compare {

// What all operations together say of the variance of one: it is s² = `variance`, and knows as much
// as `degrees` runs would tell. Few runs alone tell a variance badly, and the operation whose runs
// happen to agree would raise a false alarm; with this, they lean on one another (Smyth, 2004).
struct VariancePrior {
  double variance = 0;
  double degrees = 0;  // 0: nothing is known; may be infinite
};

// From each operation's own variance, `degrees` of freedom each. Fewer than 3 say nothing.
VariancePrior fit_prior(std::span<const double> variances, double degrees);

// An estimate with its error.
struct Estimate {
  double value = 0;
  double standard_error = 0;
  double degrees = 0;  // of freedom
};

// The probability to see a value as far from 0 as this one, or further, where there is none.
double p_value(const Estimate& estimate);

// Half the width of the interval that holds the truth with `confidence` (0.95).
double half_width(const Estimate& estimate, double confidence);

// Adjusts p-values so that calling all of those ≤ q makes a share of at most q false calls
// (Benjamini and Hochberg).
std::vector<double> adjust_p_values(std::span<const double> p_values);

}  // namespace fathom::compare
