// Steps a case and prints its state, to the last bit, for comparison: dump CASE STEPS [key=value]...

#include "percuss.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    percuss *p = NULL;
    if (argc < 3 || percuss_load_with(argv[1], argc - 3, (const char *const *)argv + 3, &p) != 0) return 2;
    for (long i = strtol(argv[2], NULL, 10); i > 0 && !percuss_is_done(p); i--)
        if (percuss_step(p) != 0) return 1;
    printf("%a %a\n", percuss_time(p), percuss_energies(p).kinetic);
    for (int i = 0; i < percuss_dofs(p); i++) printf("%a %a\n", percuss_displacement(p)[i], percuss_velocity(p)[i]);
    for (int i = 0; i < percuss_contacts(p); i++)
        printf("%a %a\n", percuss_contact_at(p, i).gap, percuss_contact_at(p, i).step_impulse);
    percuss_destroy(&p);
    return 0;
}
