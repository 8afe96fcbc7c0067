// lasolve --engine: one system, several processes.
#pragma once

#include "cli/request.hpp"

namespace lasolve::cli {

/// Returns the exit code, which all ranks have; the first one speaks. Where ranks are to be started, this process becomes mpirun.
int solve_with_engine(const Request&);

/// Says it, once, where several processes were started, as by mpirun, and each is going to solve all of the system alone.
void say_where_others_solve_the_same(const Request&);

/// Whether a command line is that of an engine, whose ranks all meet alike what is wrong with it, and this is not the first one.
bool is_said_by_another_rank(int argc, const char* const* argv);
/// Until the first rank has said it, and mpirun ends this one: it ends all when one fails, and so might end the first before it has
/// spoken. Returns after seconds, where the first has not failed.
void wait_for_first_rank();

}  // namespace lasolve::cli
