// What the process of the tool sees to before anything else.
#pragma once

namespace lasolve::worker {

/// Said where there is no memory for a message.
inline constexpr const char* no_memory = "lasolve: not enough host memory";

/// An exception that cannot be handed on, as from a destructor, ends the process with a message; where memory was what it
/// was about, with the exit code for that. Nothing half-written stays behind.
void handle_uncaught_exceptions();

/// Signals that end the process leave nothing half-written behind; those that were ignored stay so. A file that is
/// shortened while it is read is bad input. `says_so`: whether it is this process that says that it was interrupted.
void handle_signals(bool says_so = true);

/// Opens those of the descriptors 0, 1 and 2 that are closed, so that no file that is opened later is taken for a
/// standard stream. They can neither be read nor written: who tries to finds out.
void open_standard_streams();

}  // namespace lasolve::worker
