#include "core/capture.hpp"
#include "core/context_state.hpp"
#include "core/current_device.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve {

static KeptQueue queue_of(int device) {
  if (const std::string why = why_no_cuda_device(device); !why.empty()) throw MachineError("no CUDA device: " + why);
  return keep_queue(device);
}

Context::Context(int device) : Context(device, nullptr) {}

Context::Context(int device, CUstream_st* stream) : state_(std::make_shared<State>(queue_of(device), stream)) {
  const CurrentDevice current(*state_->q);
  Queue<Cuda>& q = *state_->q;
  if (stream && !capture_of(stream)) q.wait(stream);  // which a stream of another device refuses
  // Those that a factorization takes, in its order.
  q.ahead().ahead(), q.beside(), q.ahead().beside();
}

int Context::device() const { return state_->q->device(); }
CUstream_st* Context::stream() const { return state_->stream; }

Tuning Context::tuning() const {
  const Turn turn(state_->turns);
  return state_->tuning.value_or(tuning_of({Device::cuda, device()}));
}
void Context::tune(const Tuning& tuning) {
  const std::string complaint = complaint_about(tuning);
  require(complaint.empty(), ("the tuning makes no sense: " + complaint).c_str());
  const Turn turn(state_->turns);
  state_->tuning = tuning;
}

}  // namespace lasolve
