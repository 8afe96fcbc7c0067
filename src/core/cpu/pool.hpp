// The threads of the host that compute for whoever asks: one pool for all queues of a process.
//
// Not OpenMP: libgomp ends the process when a thread cannot be made, spins also where others want the core unless a variable of
// the environment says otherwise before it is loaded, hangs in a forked child, and its settings are the caller's. Not oneTBB:
// it throws when a thread cannot be made, and does not go on with those that it has.
//
// Nobody waits for a thread that has not begun: the caller takes parts as the others do, and where these are late, because
// the cores are busy with other work, it takes them all. So code must not rely on two parts running at once.
#pragma once

#include <cstdint>

namespace lasolve {

/// Calls part(argument, t) once for each t in [0, parts), on the calling thread and on others, and returns when all have
/// returned. Others are woken where the `work`, in operations, is worth it; made where there are none yet, as many as can
/// be had; and not waited for. What a part throws is thrown here, and parts that have not begun are then left out.
/// Any number of host threads may call this at once, parts may, and forked children. Allocates nothing.
void run_parts(std::int64_t parts, double work, void (*part)(void* argument, std::int64_t t), void* argument);

/// How many threads can compute at once, the caller counted, of as many as are wanted: fewer where making one has failed.
int threads_to_be_had(int wanted);

/// Forgets that making a thread has failed: the next call tries again.
void forget_failed_threads();

}  // namespace lasolve
