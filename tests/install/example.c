// The smallest program that uses the library: loads a case, steps it to its end, prints where the first node is.

#include <percuss.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    percuss *p = NULL;
    if (argc != 2 || percuss_load(argv[1], &p) != 0) return fprintf(stderr, "%s\n", percuss_message(p)), 2;
    while (!percuss_is_done(p) && percuss_step(p) == 0) continue;
    printf("t = %g s, u[0] = %.17g m %s\n", percuss_time(p), percuss_displacement(p)[0], percuss_message(p));
    percuss_destroy(&p);
    return 0;
}
