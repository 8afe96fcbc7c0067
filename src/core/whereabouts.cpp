#include "core/whereabouts.hpp"

#include <fmt/format.h>

namespace lasolve {

std::string why_not_on_host(const Whereabouts& its) {
  if (its.place != Whereabouts::device) return "";
  return fmt::format("a view of memory of the host, but points to memory of cuda:{}; give it as a view of Cuda",
                     its.cuda_device);
}

std::string why_not_on_device(const Whereabouts& its, int device) {
  switch (its.place) {
    case Whereabouts::managed:
      return "";
    case Whereabouts::device:
      if (its.cuda_device == device) return "";
      return fmt::format("on cuda:{}, but the solver is on cuda:{}", its.cuda_device, device);
    case Whereabouts::host:
      return "a view of device memory, but points to pinned memory of the host; give it as a view of Cpu";
    case Whereabouts::unknown:
      return "a view of device memory, but points to none: to memory of the host, to what was freed, or beyond its end";
  }
  return "";
}

namespace {

void refuse_if(const char* name, const std::string& why) {
  if (!why.empty()) throw std::invalid_argument(fmt::format("lasolve: {} is {}", name, why));
}

}  // namespace

void require_on_host(const char* name, Ends ends) {
  for (const void* end : {ends.first, ends.last})
    if (const Whereabouts its = end ? whereabouts(end) : Whereabouts(); its.place != Whereabouts::unknown)
      refuse_if(name, why_not_on_host(its));
}

void require_on_device(const char* name, Ends ends, int device) {
  for (const void* end : {ends.first, ends.last})
    if (end) refuse_if(name, why_not_on_device(whereabouts(end), device));
}

}  // namespace lasolve
