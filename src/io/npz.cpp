#include "io/npz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/input_error.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"

namespace lasolve::io {
namespace {

/// The name of a member as NumPy shows it: without .npy.
std::string array_name(const ZipMember& member) {
  constexpr std::string_view suffix = ".npy";
  std::string name = member.name;
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

/// The names of all of them, for a message.
std::string listed(const std::vector<ZipMember>& members) {
  constexpr std::size_t most = 20;
  std::vector<std::string> names;
  for (const ZipMember& m : members) names.push_back(printable(array_name(m)));
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

const ZipMember& chosen(const InputFile& file, const std::vector<ZipMember>& members, const std::string& array) {
  if (members.empty()) file.refuse("expected a .npz file with an array, found none in it");
  if (array.empty() && members.size() > 1)
    file.refuse(fmt::format("expected one array, found {}: {}; {}:{} names one", members.size(), listed(members),
                            file.name(), printable(array_name(members[0]))));
  const auto found = std::find_if(members.begin(), members.end(), [&](const ZipMember& m) {
    return array.empty() || array_name(m) == array || m.name == array;
  });
  if (found == members.end())
    file.refuse(fmt::format("expected an array {}, found {}", quoted(array), listed(members)));
  return *found;
}

}  // namespace

MatrixFile read_npz(const InputFile& file, const std::string& array, const ReadOptions& options) {
  const std::vector<ZipMember> members = zip_members(file);
  const ZipMember& member = chosen(file, members, array);
  return read_npy(open_member(file, member, fmt::format("{}:{}", file.name(), printable(array_name(member)))), options);
}

}  // namespace lasolve::io
