#include "core/memory_kind.hpp"

#include <fmt/format.h>

#include "core/misuse.hpp"

namespace lasolve {

std::string why_not_on_host(const MemoryKind& its) {
  if (its.where != MemoryKind::device) return "";
  return fmt::format("a view of memory of the host, but points to memory of cuda:{}; give it as a view of Cuda",
                     its.cuda_device);
}

std::string why_not_on_device(const MemoryKind& its, int device) {
  switch (its.where) {
    case MemoryKind::managed:
      return "";
    case MemoryKind::device:
      if (its.cuda_device == device) return "";
      return fmt::format("on cuda:{}, but the solver is on cuda:{}", its.cuda_device, device);
    case MemoryKind::host:
      return "a view of device memory, but points to pinned memory of the host; give it as a view of Cpu";
    case MemoryKind::unknown:
      return "a view of device memory, but points to none: to memory of the host, to what was freed, or beyond its end";
  }
  return "";
}

namespace {

[[noreturn]] void refuse(const char* name, const std::string& why, const std::string& why_in_c) {
  throw Misuse(fmt::format("{} is {}", name, why), fmt::format("{} is {}", name, why_in_c));
}

}  // namespace

void require_on_host(const char* name, Ends ends) {
  for (const void* end : {ends.first, ends.last}) {
    const MemoryKind its = end ? memory_kind(end) : MemoryKind();
    if (its.where == MemoryKind::unknown) continue;
    if (const std::string why = why_not_on_host(its); !why.empty())
      refuse(name, why, fmt::format("memory of cuda:{}, but options.memory is LASOLVE_HOST", its.cuda_device));
  }
}

void require_on_device(const char* name, Ends ends, int device) {
  for (const void* end : {ends.first, ends.last}) {
    const MemoryKind its = end ? memory_kind(end) : MemoryKind();
    const std::string why = end ? why_not_on_device(its, device) : "";
    if (why.empty()) continue;
    const char* const kind = its.where == MemoryKind::host ? "pinned memory of the host"
                                                           : "memory of the host, or what was freed, or beyond its end";
    refuse(name, why,
           its.where == MemoryKind::device ? why : fmt::format("{}, but options.memory is LASOLVE_CUDA", kind));
  }
}

void require_on_some_device(const char* name, Ends ends) {
  require_on_device(name, ends, ends.first ? memory_kind(ends.first).cuda_device : -1);
}

}  // namespace lasolve
