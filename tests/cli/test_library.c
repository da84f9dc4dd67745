// The public interface: load, step, read, run, destroy, and what it answers when something is wrong.

#include "check.h"
#include "percuss.h"

#include <string.h>
#include <sys/stat.h>

enum { NSET = 2 };

static const char *const small[NSET] = { "mesh.bar.elements=20", "time.end=0.6" };

TEST(a_case_is_stepped_to_its_end)
{
    percuss *p = NULL;
    CHECK(percuss_load_with("cases/bar_impact", NSET, small, &p) == 0);
    CHECK(strcmp(percuss_message(p), "") == 0);
    CHECK(percuss_dofs(p) == 21 && percuss_contacts(p) == 1);
    CHECK(percuss_time(p) == 0.0 && percuss_step_size(p) == 2.0e-3);
    CHECK(percuss_velocity(p)[0] == -10.0 && percuss_displacement(p)[20] == 0.0);
    CHECK_NEAR(percuss_contact_at(p, 0).gap, 5.005, 1e-12);
    CHECK_NEAR(percuss_contact_at(p, 0).gap_rate, -10.0, 1e-12);
    CHECK(strcmp(percuss_contact_at(p, 0).name, "wall") == 0);
    CHECK_NEAR(percuss_energies(p).kinetic, 500.0, 1e-9);

    // Free flight until 0.5005 s.
    int nstep = 0;
    for (; percuss_time(p) < 0.4 - 1e-9; nstep++) CHECK(percuss_step(p) == 0);
    CHECK(nstep == 200);
    CHECK_NEAR(percuss_displacement(p)[0], -4.0, 1e-9);
    CHECK_NEAR(percuss_contact_at(p, 0).gap, 1.005, 1e-9);
    CHECK(!percuss_contact_at(p, 0).is_closed && percuss_contact_at(p, 0).step_impulse == 0.0);

    for (; !percuss_is_done(p); nstep++) CHECK(percuss_step(p) == 0);
    CHECK(nstep == 300 && percuss_time(p) == 0.6);
    percuss_contact wall = percuss_contact_at(p, 0);
    CHECK(wall.is_closed && wall.force > 150.0 && wall.force < 450.0);
    CHECK_RELATIVE(wall.step_impulse, wall.force * percuss_step_size(p), 1e-12);
    CHECK(percuss_step(p) == 0 && percuss_time(p) == 0.6); // nothing is left to do
    percuss_destroy(&p);
    CHECK(p == NULL);
}

TEST(energies_are_those_of_the_summary)
{
    percuss *p = NULL;
    CHECK(percuss_load_with("cases/bar_impact", NSET, small, &p) == 0);
    while (!percuss_is_done(p)) CHECK(percuss_step(p) == 0);
    percuss_energy e = percuss_energies(p);
    double lost = e.damping_loss + e.impact_loss + e.friction_loss + e.numerical_loss;
    double change = e.external_work + e.correction_work - lost;
    CHECK_NEAR(e.kinetic + e.strain + e.potential, 500.0 + change, 1e-9);
    CHECK(e.strain > 0.0 && e.impact_loss != 0.0 && e.friction_loss == 0.0);
    percuss_destroy(&p);
}

TEST(a_run_writes_what_is_left)
{
    static const char folder[] = TESTS_OUTPUT_FOLDER "/library";
    percuss *p = NULL;
    struct stat info;
    CHECK(percuss_load_with("cases/bar_impact", NSET, small, &p) == 0);
    CHECK(percuss_run(p, folder) == 0);
    CHECK(percuss_is_done(p) && percuss_time(p) == 0.6);
    CHECK(stat(TESTS_OUTPUT_FOLDER "/library/history.csv", &info) == 0 && info.st_size > 1000);
    percuss_destroy(&p);
}

TEST(faults_are_told)
{
    static const char *const wrong[1] = { "scheme.rho_inf=7" };
    percuss *p = NULL;
    CHECK(percuss_load("no/such/case", &p) == 2);
    CHECK_TEXT(percuss_message(p), "no/such/case");
    CHECK(percuss_is_done(p) && percuss_step(p) == 2 && percuss_run(p, "x") == 2);
    CHECK(percuss_dofs(p) == 0 && percuss_contacts(p) == 0 && percuss_displacement(p) == NULL);
    percuss_destroy(&p);
    CHECK(percuss_load_with("cases/bar_impact", 1, wrong, &p) == 2);
    CHECK_TEXT(percuss_message(p), "--set scheme.rho_inf=7: scheme.rho_inf must be in");
    percuss_destroy(&p);
    CHECK(percuss_load_with("cases/bar_impact", NSET, small, &p) == 0);
    CHECK(percuss_run(p, "cases/bar_impact/case.yaml/x") == 1);
    CHECK_TEXT(percuss_message(p), "cases/bar_impact/case.yaml");
    CHECK(percuss_is_done(p) && percuss_step(p) == 1);
    CHECK(strcmp(percuss_contact_at(p, 1).name, "") == 0 && strcmp(percuss_contact_at(p, -1).name, "") == 0);
    percuss_destroy(&p);
}

TEST(nothing_is_a_valid_argument)
{
    percuss *p = NULL;
    percuss_destroy(&p);
    percuss_destroy(NULL);
    CHECK(percuss_is_done(NULL) && percuss_step(NULL) == 2 && percuss_time(NULL) == 0.0);
    CHECK_TEXT(percuss_message(NULL), "out of memory");
    CHECK_TEXT(percuss_version(), ".");
}
