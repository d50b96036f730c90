#include "compare/parts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>

#include "compare/order_in_step.h"

namespace fathom::compare {
namespace {

constexpr double kLeastPartShare = 0.005;

// Of each run of a side.
using Sites = std::vector<std::vector<const CallSite*>>;

// Sites that are looked at together.
struct Group {
  WhichCalls which;
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
  double base_least_ns;
  double current_least_ns;

  bool is_large(const Times& times) const {
    return times.base_self_ns >= base_least_ns || times.current_self_ns >= current_least_ns;
  }
};

// Whether parts differ in what a call takes. Few calls of little time make no difference.
bool have_levels(std::span<const Times> parts) {
  constexpr double kFew = 0.05;
  Times all;
  for (const Times& part : parts) {
    all.calls += part.calls;
    all.total_ns += part.total_ns;
  }
  double lowest = INFINITY;
  double highest = -INFINITY;
  for (const Times& part : parts) {
    const bool are_few = part.calls < kFew * all.calls && part.total_ns < kFew * all.total_ns;
    if (part.total_ns <= 0 || are_few) continue;
    lowest = std::min(lowest, std::log(part.total_ns / part.calls));
    highest = std::max(highest, std::log(part.total_ns / part.calls));
  }
  return highest - lowest > kOtherLevel;
}

// The sites of a group by one of their texts: shape or path.
std::map<std::string_view, Group> groups_by(std::string CallSite::*text, const Group& group) {
  std::map<std::string_view, Group> groups;
  const auto add = [&](Sites Group::*side) {
    const Sites& runs = group.*side;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      for (const CallSite* site : runs[run]) {
        Group& to = groups[site->*text];
        to.base.resize(group.base.size());
        to.current.resize(group.current.size());
        (to.*side)[run].push_back(site);
      }
    }
  };
  add(&Group::base);
  add(&Group::current);
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

Choice choose(const Least& least, std::map<std::string_view, Group>& groups) {
  Choice choice;
  std::vector<Group> gone;
  std::vector<Group> added;
  for (auto& [text, group] : groups) {
    Times times;
    add_times(times, group);
    std::vector<Group>& to = !least.is_large(times)      ? choice.rest
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

// The group in parts by shape or path; alone, where that does not explain different times.
std::vector<Group> divide(const Least& least, Group group, std::string CallSite::*text,
                          std::string WhichCalls::*said) {
  std::map<std::string_view, Group> groups = groups_by(text, group);
  for (auto& [value, part] : groups) {
    part.which = group.which;
    part.which.*said = value;
  }
  if (groups.size() == 1) return {std::move(groups.begin()->second)};
  Choice choice = choose(least, groups);
  std::vector<Times> times(choice.parts.size() + 1);
  for (std::size_t i = 0; i < choice.parts.size(); ++i) add_times(times[i], choice.parts[i]);
  for (const Group& one : choice.rest) add_times(times.back(), one);
  if (choice.parts.empty() || !have_levels(times)) return {std::move(group)};

  std::vector<Group> parts = std::move(choice.parts);
  if (choice.rest.size() == 1) parts.push_back(std::move(choice.rest.front()));
  if (choice.rest.size() > 1) {
    Group& rest = parts.emplace_back();
    rest.which = group.which;
    rest.which.is_rest = true;
    for (const Group& one : choice.rest) add_group(rest, one);
  }
  return parts;
}

OperationPart part_of(const Group& group) {
  OperationPart part;
  part.which = group.which;
  const auto add = [](SideCalls& to, const Sites& sites) {
    to.resize(sites.size());
    for (std::size_t run = 0; run < sites.size(); ++run) {
      for (const CallSite* site : sites[run]) {
        to[run].ns.insert(to[run].ns.end(), site->ns.begin(), site->ns.end());
        to[run].self_ns += site->self_ns;
      }
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

double self_of(const SideCalls& side) {
  double sum = 0;
  for (const RunCalls& run : side) sum += static_cast<double>(run.self_ns);
  return sum;
}

// One part for each of the calls of a step that is large, and one for the rest.
std::vector<OperationPart> by_place(const Least& least, const Group& group, std::size_t count) {
  std::vector<OperationPart> parts;
  OperationPart rest;
  rest.which = group.which;
  rest.which.is_rest = true;
  for (std::size_t place = 0; place < count; ++place) {
    const auto add_to = [&](OperationPart& part) {
      add_place(part.base, group.base, place, count);
      add_place(part.current, group.current, place, count);
    };
    OperationPart part;
    part.which = group.which;
    part.which.place = PlaceInStep{place + 1, count};
    add_to(part);
    if (least.is_large({self_of(part.base), self_of(part.current), 0, 0})) {
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

std::vector<OperationPart> take_apart(const SideOperations& base, const SideOperations& current,
                                      double base_whole_ns, double current_whole_ns) {
  const Least least{base_whole_ns * static_cast<double>(base.size()) * kLeastPartShare,
                    current_whole_ns * static_cast<double>(current.size()) * kLeastPartShare};
  std::vector<OperationPart> parts;
  const auto add = [&](const Group& group) {
    const auto count = group.which.is_rest ? std::nullopt : ordered_calls(site_in_each_run(group));
    if (count) {
      std::ranges::move(by_place(least, group, *count), std::back_inserter(parts));
    } else {
      parts.push_back(part_of(group));
    }
  };
  for (Group& shape :
       divide(least, all_sites(base, current), &CallSite::shape, &WhichCalls::shape)) {
    tell_other_shapes(shape);
    if (shape.which.is_rest) {
      add(shape);
      continue;
    }
    for (const Group& path : divide(least, std::move(shape), &CallSite::path, &WhichCalls::path)) {
      add(path);
    }
  }
  std::vector<WhichCalls*> which;
  for (OperationPart& part : parts) which.push_back(&part.which);
  tell_apart(which);
  return parts;
}

}  // namespace fathom::compare
