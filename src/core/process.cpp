#include "core/process.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

namespace lasolve {

namespace {

constexpr pthread_mutex_t free_to_make = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t making = free_to_make;
AtFork* all = nullptr;
unsigned generations = 1;

void before_fork() {
  pthread_mutex_lock(&making);
  for (const AtFork* one = all; one; one = one->next) one->before(one->it);
}
void after_fork(bool in_child) {
  for (const AtFork* one = all; one; one = one->next) one->after(one->it, in_child);
}
void go_on() {
  after_fork(false);
  pthread_mutex_unlock(&making);
}
void begin_child() {
  making = free_to_make;  // its owner has another number here
  ++generations;
  after_fork(true);
}

/// Keeps the library in memory, or the plugin that holds it: threads sleep in its code, and handlers of fork, exit and the ends of
/// threads are there.
void stay_loaded() {
  Dl_info ours;
  link_map* object = nullptr;
  if (!dladdr1(&making, &ours, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) || !object) return;
  const bool is_program = !*object->l_name;
  if (!is_program) dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

[[gnu::constructor]] void begin() {
  stay_loaded();
  pthread_atfork(before_fork, go_on, begin_child);
}

}  // namespace

Making::Making() noexcept { pthread_mutex_lock(&making); }
Making::~Making() { pthread_mutex_unlock(&making); }

void call_at_forks(AtFork& one) noexcept {
  one.next = all;
  all = &one;
}

unsigned generation() noexcept { return generations; }

}  // namespace lasolve
