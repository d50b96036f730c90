#include "compare/parts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "compare/order_in_step.h"

namespace fathom::compare {
namespace {

constexpr double kLeastPartShare = 0.005;

// Of each run of a side.
using Sites = std::vector<std::vector<const CallSite*>>;

// Sites that are looked at together.
struct Group {
  CallSubset which;
  Sites base;
  Sites current;
};

bool is_in_all(const Sites& sites) {
  return std::ranges::none_of(sites, [](const auto& run) { return run.empty(); });
}

bool is_in_none(const Sites& sites) {
  return std::ranges::all_of(sites, [](const auto& run) { return run.empty(); });
}

bool is_everywhere(const Group& group) {
  return is_in_all(group.base) && is_in_all(group.current);
}

// What calls took, all runs of a side together.
struct Times {
  double base_self_ns = 0;
  double current_self_ns = 0;
  double total_ns = 0;  // of both sides
  double calls = 0;
};

void add_times(Times& to, const Group& group) {
  const auto add = [&](const Sites& sites, double& self_ns) {
    for (const auto& run : sites) {
      for (const CallSite* site : run) {
        self_ns += static_cast<double>(site->self_ns);
        to.total_ns += static_cast<double>(site->total_ns);
        to.calls += static_cast<double>(site->ns.size());
      }
    }
  };
  add(group.base, to.base_self_ns);
  add(group.current, to.current_self_ns);
}

// What is large enough to be looked at by itself, all runs of a side together.
struct Least {
  double base_ns;
  double current_ns;

  bool is_reached(double base_self_ns, double current_self_ns) const {
    return base_self_ns >= base_ns || current_self_ns >= current_ns;
  }
};

// Whether parts differ in what a call takes: the quickest and the slowest, but for the few calls of
// little time at either end.
bool have_levels(std::vector<Times> parts) {
  constexpr double kFew = 0.05;
  std::erase_if(parts, [](const Times& part) { return part.total_ns <= 0; });
  const auto call_ns = [](const Times& part) { return part.total_ns / part.calls; };
  std::ranges::sort(parts, {}, call_ns);
  double calls = 0;
  double total_ns = 0;
  for (const Times& part : parts) {
    calls += part.calls;
    total_ns += part.total_ns;
  }
  const auto first_that_counts = [&](auto at, auto end) {
    double passed_calls = 0;
    double passed_ns = 0;
    for (; at != end; ++at) {
      passed_calls += at->calls;
      passed_ns += at->total_ns;
      if (passed_calls >= kFew * calls || passed_ns >= kFew * total_ns) return call_ns(*at);
    }
    return 0.0;
  };
  if (parts.size() < 2) return false;
  const double lowest = first_that_counts(parts.begin(), parts.end());
  const double highest = first_that_counts(parts.rbegin(), parts.rend());
  return std::log(highest / lowest) > kOtherLevel;
}

// By what a group is taken apart.
struct Level {
  std::optional<std::string_view> (*text)(const CallSite&);  // absent where unknown
  std::string CallSubset::*said;
  CallSubset::Rest rest;
};
using Text = std::optional<std::string_view>;
constexpr Level kByShape = {[](const CallSite& site) { return Text(site.shape); },
                            &CallSubset::shape, CallSubset::Rest::of_shapes};
constexpr Level kByPath = {
    [](const CallSite& site) { return site.path == nullptr ? Text() : Text(*site.path); },
    &CallSubset::path, CallSubset::Rest::of_paths};

std::map<Text, Group> groups_by(const Level& level, const Group& group) {
  std::map<Text, Group> groups;
  const auto add = [&](Sites Group::*side) {
    const Sites& runs = group.*side;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      for (const CallSite* site : runs[run]) {
        Group& to = groups[level.text(*site)];
        to.base.resize(group.base.size());
        to.current.resize(group.current.size());
        (to.*side)[run].push_back(site);
      }
    }
  };
  add(&Group::base);
  add(&Group::current);
  for (auto& [text, part] : groups) {
    part.which = group.which;
    part.which.*level.said = text.value_or("");
  }
  return groups;
}

void add_group(Group& to, const Group& from) {
  const auto add = [](Sites& all, const Sites& more) {
    all.resize(more.size());
    for (std::size_t run = 0; run < more.size(); ++run) {
      all[run].insert(all[run].end(), more[run].begin(), more[run].end());
    }
  };
  add(to.base, from.base);
  add(to.current, from.current);
}

// What of a group is compared by itself, and what is left: large parts that all runs have; and
// those that one side has and the other has not, unless both sides have such, for then one may have
// become the other.
struct Choice {
  std::vector<Group> parts;
  std::vector<Group> rest;
};

Choice choose(const Least& least, std::map<Text, Group>& groups) {
  Choice choice;
  std::vector<Group> gone;
  std::vector<Group> added;
  for (auto& [text, group] : groups) {
    Times times;
    add_times(times, group);
    const bool is_large = text && least.is_reached(times.base_self_ns, times.current_self_ns);
    std::vector<Group>& to = !is_large                   ? choice.rest
                             : is_everywhere(group)      ? choice.parts
                             : is_in_none(group.current) ? gone
                             : is_in_none(group.base)    ? added
                                                         : choice.rest;
    to.push_back(std::move(group));
  }
  std::vector<Group>& lonely = gone.empty() || added.empty() ? choice.parts : choice.rest;
  std::ranges::move(gone, std::back_inserter(lonely));
  std::ranges::move(added, std::back_inserter(lonely));
  return choice;
}

// The group in parts; alone, where that does not explain different times.
std::vector<Group> divide(const Least& least, Group group, const Level& level) {
  std::map<Text, Group> groups = groups_by(level, group);
  if (groups.size() == 1) return {std::move(groups.begin()->second)};
  Choice choice = choose(least, groups);
  std::vector<Times> times(choice.parts.size() + 1);
  for (std::size_t i = 0; i < choice.parts.size(); ++i) add_times(times[i], choice.parts[i]);
  for (const Group& one : choice.rest) add_times(times.back(), one);
  if (choice.parts.empty() || !have_levels(std::move(times))) return {std::move(group)};

  std::vector<Group> parts = std::move(choice.parts);
  if (choice.rest.empty()) return parts;
  Group& rest = parts.emplace_back();
  rest.which = group.which;
  rest.which.rest = level.rest;
  for (const Group& one : choice.rest) add_group(rest, one);
  return parts;
}

OperationPart part_of(const Group& group) {
  OperationPart part;
  part.which = group.which;
  const auto add = [](SideCalls& to, const Sites& sites) {
    to.resize(sites.size());
    for (std::size_t run = 0; run < sites.size(); ++run) {
      for (const CallSite* site : sites[run]) add_site(to[run], *site);
    }
  };
  add(part.base, group.base);
  add(part.current, group.current);
  return part;
}

// The site in every run, of a group that may be several calls in a step: self time is known of a
// site, not of each of its calls, so they must be without inner ones.
std::vector<const CallSite*> site_in_each_run(const Group& group) {
  std::vector<const CallSite*> sites;
  for (const Sites* side : {&group.base, &group.current}) {
    for (const auto& run : *side) {
      if (run.size() != 1 || run.front()->total_ns != run.front()->self_ns) return {};
      sites.push_back(run.front());
    }
  }
  return sites;
}

void add_place(SideCalls& to, const Sites& sites, std::size_t place, std::size_t count) {
  to.resize(sites.size());
  for (std::size_t run = 0; run < sites.size(); ++run) {
    const std::vector<std::int64_t>& ns = sites[run].front()->ns;
    for (std::size_t i = place; i < ns.size(); i += count) {
      to[run].ns.push_back(ns[i]);
      to[run].self_ns += ns[i];
    }
  }
}

// One part for each of the calls of a step that is large, and one for the rest.
std::vector<OperationPart> by_place(const Least& least, const Group& group, std::size_t count) {
  std::vector<OperationPart> parts;
  OperationPart rest;
  rest.which = group.which;
  rest.which.rest = CallSubset::Rest::of_places;
  for (std::size_t place = 0; place < count; ++place) {
    const auto add_to = [&](OperationPart& part) {
      add_place(part.base, group.base, place, count);
      add_place(part.current, group.current, place, count);
    };
    OperationPart part;
    part.which = group.which;
    part.which.place = PlaceInStep{place + 1, count};
    add_to(part);
    if (least.is_reached(self_ns(part.base), self_ns(part.current))) {
      parts.push_back(std::move(part));
    } else {
      add_to(rest);
    }
  }
  if (!rest.base.empty()) parts.push_back(std::move(rest));
  return parts;
}

// By the time spent on it; empty where some calls do not say.
std::map<std::string_view, std::int64_t> shapes_of(const Sites& sites) {
  std::map<std::string_view, std::int64_t> shapes;
  for (const auto& run : sites) {
    for (const CallSite* site : run) {
      if (site->shape.empty()) return {};
      shapes[site->shape] += site->total_ns;
    }
  }
  return shapes;
}

void tell_other_shapes(Group& group) {
  const auto before = shapes_of(group.base);
  const auto now = shapes_of(group.current);
  if (before.empty() || now.empty()) return;
  for (const auto& [shape, ns] : before) {
    if (now.contains(shape)) return;
  }
  const auto most = [](const auto& shapes) {
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    return std::string(std::ranges::max_element(shapes, by_time)->first);
  };
  group.which.base_shape = most(before);
  group.which.current_shape = most(now);
}

Group all_sites(const SideOperations& base, const SideOperations& current) {
  Group group;
  const auto add = [](Sites& to, const SideOperations& runs) {
    to.resize(runs.size());
    for (std::size_t run = 0; run < runs.size(); ++run) {
      if (runs[run] == nullptr) continue;
      for (const CallSite& site : runs[run]->sites) to[run].push_back(&site);
    }
  };
  add(group.base, base);
  add(group.current, current);
  return group;
}

}  // namespace

void add_site(RunCalls& to, const CallSite& site) {
  to.sites.push_back(to.ns.size());
  to.ns.insert(to.ns.end(), site.ns.begin(), site.ns.end());
  to.self_ns += site.self_ns;
}

double self_ns(const SideCalls& side) {
  double sum = 0;
  for (const RunCalls& run : side) sum += static_cast<double>(run.self_ns);
  return sum;
}

std::vector<OperationPart> take_apart(const SideOperations& base, const SideOperations& current,
                                      double base_whole_ns, double current_whole_ns) {
  const Least least{base_whole_ns * kLeastPartShare, current_whole_ns * kLeastPartShare};
  std::vector<OperationPart> parts;
  const auto add = [&](Group& group) {
    tell_other_shapes(group);
    const bool is_rest = group.which.rest != CallSubset::Rest::none;
    const auto count = is_rest ? std::nullopt : ordered_calls(site_in_each_run(group));
    if (count) {
      std::ranges::move(by_place(least, group, *count), std::back_inserter(parts));
    } else {
      parts.push_back(part_of(group));
    }
  };
  for (Group& shape : divide(least, all_sites(base, current), kByShape)) {
    if (shape.which.rest != CallSubset::Rest::none) {
      add(shape);
      continue;
    }
    for (Group& path : divide(least, std::move(shape), kByPath)) add(path);
  }
  std::vector<CallSubset*> which;
  for (OperationPart& part : parts) which.push_back(&part.which);
  tell_apart(which);
  return parts;
}

}  // namespace fathom::compare
