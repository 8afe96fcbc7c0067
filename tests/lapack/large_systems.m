% Octave's own tests of what it solves by LAPACK, and those of large systems below. Each says itself on standard output, and behind it what fails.
% See scripts/check-drop-in.
named = strcat (__octave_config_info__ ("octtestsdir"), ...
                strcat ("/libinterp/corefcn/", {"inv", "chol", "det", "lu", "rcond", "pinv", "sqrtm"}, ".cc-tst"));
fixed = strcat (__octave_config_info__ ("octtestsdir"), {"/liboctave/array/dMatrix.cc-tst", "/fixed/leftdiv.tst"});
functions = glob ([fileparts(which ("linsolve")) "/*.m"])';
for file = [named, fixed, functions, {[mfilename("fullpath") ".m"]}]
  test (file{1}, "verbose", stdout ());
end

%!shared A, S, x
%! rand ("seed", 1);
%! A = rand (400) + 20 * eye (400);
%! S = A' * A;
%! x = ones (400, 3);
%!assert (A \ (A * x), x, 1e-10)
%!assert ((x' * A) / A, x', 1e-10)
%!assert (S \ (S * x), x, 1e-10)
%!assert (single (A) \ single (A * x), single (x), 1e-3)
%!assert (inv (A) * A, eye (400), 1e-11)
%!assert (rcond (A) > 1e-5)
%!test
%! [L, U, P] = lu (A);
%! assert (L * U, P * A, 1e-11);
%! assert (det (A * 0.05), prod (diag (U) * 0.05) * det (P), -1e-10);
%!test
%! R = chol (S);
%! assert (R' * R, S, 1e-9);
%! assert (chol2inv (R) * S, eye (400), 1e-9);
%!assert (cholinv (S) * S, eye (400), 1e-9)
%!error <must be positive definite> chol (S - 2e3 * eye (400))
%!warning <matrix singular> inv (ones (300))
