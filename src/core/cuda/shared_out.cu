#include "core/cuda/shared_out.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "core/cuda/check.hpp"
#include "core/cuda/count_for_tests.hpp"
#include "core/cuda/driver.hpp"
#include "core/current_device.hpp"
#include "core/process.hpp"

namespace lasolve {

SharedOut::SharedOut(int device, int multiprocessors) : asked_for_(multiprocessors) {
  const Driver& d = driver();
  const CurrentDevice current(device);
  CUdevice handle = 0;
  CUDA_CHECK(d.device(&handle, device));
  CUdevResource all{}, some{}, others{};
  CUDA_CHECK(d.resource_of(handle, &all, CU_DEV_RESOURCE_TYPE_SM));
  unsigned groups = 1;
  CUDA_CHECK(d.split(&some, &groups, &all, &others, CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE,
                     unsigned(multiprocessors)));
  if (groups != 1 || others.sm.smCount == 0)
    throw MachineError("CUDA: a device has too few multiprocessors to share out");
  for (const bool is_others : {false, true}) {
    CUdevResource& resource = is_others ? others : some;
    CUdevResourceDesc description;
    CUDA_CHECK(d.describe(&description, &resource, 1));
    count_made();
    CUDA_CHECK(d.make_green(&parts_[is_others].context, description, handle, CU_GREEN_CTX_DEFAULT_STREAM));
    parts_[is_others].multiprocessors = int(resource.sm.smCount);
  }
}

SharedOut::Part::~Part() {
  if (context) count_made(), loaded_driver()->destroy_green(context);
}

CUstream_st* SharedOut::make_stream(bool others, int priority) const {
  CUstream stream = nullptr;
  CUDA_CHECK(driver().make_green_stream(&stream, parts_[others].context, CU_STREAM_NON_BLOCKING, priority));
  return stream;
}

std::shared_ptr<const SharedOut> shared_out(const DeviceProperties& device, int index, int multiprocessors) noexcept {
  if (multiprocessors <= 0 || !device.has_clusters_of(16) || device.pretended) return nullptr;
  struct Made {
    std::weak_ptr<const SharedOut> it;
    bool in_vain = false;
  };
  try {
    if (!driver().has_green_contexts()) return nullptr;
    static std::mutex guard;
    constinit static NeverDestroyed<std::map<std::pair<int, int>, Made>> all;
    const std::lock_guard lock(guard);
    Made& made = all.get()[{index, multiprocessors}];
    std::shared_ptr<const SharedOut> it = made.it.lock();
    if (it || made.in_vain) return it;
    made.in_vain = true;
    made.it = it = std::make_shared<const SharedOut>(index, multiprocessors);
    made.in_vain = false;
    return it;
  } catch (...) {
    return nullptr;
  }
}

}  // namespace lasolve
