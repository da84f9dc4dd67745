// Errors of the bar cases against their exact solutions under joint refinement of mesh and step, for every scheme: the
// observed orders, and the errors at N = 100 beside those of a separate implementation of the same schemes.

#include "support/check.h"
#include "support/refine.h"

#include <math.h>

// Errors at N = 100, from the separate implementation: u max L2, u L1, v L2, v L1, F L2, F L1.
static const double SEPARATE[REFINE_PROBLEMS][REFINE_METHODS][6] = {
    {
        // bar_bouncing
        { 1.118362e-02, 4.389860e-03, 7.943311e-02, 3.384480e-02, 7.049357e-02, 1.592550e-02 },
        { 1.115068e-02, 4.350572e-03, 9.242546e-02, 5.753116e-02, 7.541034e-02, 2.550153e-02 },
        { 1.186238e-01, 5.413328e-02, 2.264685e-01, 1.007943e-01, 2.172437e-01, 8.737992e-02 },
        { 1.135547e-02, 5.007303e-03, 8.557907e-02, 5.448166e-02, 6.149396e-02, 2.193850e-02 },
        { 3.885230e-02, 2.952238e-02, 2.201285e-01, 1.516964e-01, 1.946955e-01, 1.048937e-01 },
        { 1.226988e-02, 5.143463e-03, 8.796530e-02, 4.805514e-02, 6.758196e-02, 2.111317e-02 },
    },
    {
        // bar_clamped
        { 9.146411e-03, 3.610744e-03, 1.016736e-01, 6.703704e-02, 7.479032e-02, 1.409900e-02 },
        { 9.061338e-03, 3.701578e-03, 1.161992e-01, 9.605477e-02, 7.144893e-02, 1.495168e-02 },
        { 5.503849e-02, 2.110022e-02, 1.465798e-01, 7.415641e-02, 1.441080e-01, 3.725760e-02 },
        { 9.064798e-03, 4.129366e-03, 1.166747e-01, 9.606117e-02, 7.203819e-02, 1.510300e-02 },
        { 2.448828e-02, 1.333034e-02, 1.926904e-01, 1.706431e-01, 2.217363e-01, 1.443105e-01 },
        { 1.311139e-02, 9.060817e-03, 1.162988e-01, 6.363894e-02, 9.458953e-02, 2.014690e-02 },
    },
    {
        // bars_two
        { 5.610814e-03, 2.586676e-03, 6.736766e-02, 2.993232e-02, 4.531121e-02, 5.966532e-03 },
        { 5.529970e-03, 2.594373e-03, 7.331171e-02, 4.136808e-02, 4.254361e-02, 5.951057e-03 },
        { 3.795550e-02, 2.425147e-02, 1.032153e-01, 3.710831e-02, 9.195060e-02, 1.673382e-02 },
        { 1.313499e-02, 1.468441e-02, 7.753694e-02, 3.657004e-02, 4.030791e-02, 6.191873e-03 },
        { 1.380541e-02, 7.523720e-03, 1.313511e-01, 9.303571e-02, 1.547290e-01, 7.052132e-02 },
        { 6.977680e-03, 3.275652e-03, 7.271881e-02, 2.966795e-02, 5.783321e-02, 7.803113e-03 },
    },
    {
        // bar_fast
        { 7.832723e-03, 2.297029e-03, 5.898626e-02, 2.198422e-02, 5.801712e-02, 8.198406e-03 },
        { 7.403063e-03, 2.188483e-03, 6.267655e-02, 2.942910e-02, 5.717863e-02, 8.347224e-03 },
        { 4.937934e-02, 2.168458e-02, 9.303116e-02, 3.009112e-02, 9.113266e-02, 1.658773e-02 },
        { 1.812553e-02, 1.355517e-02, 7.371382e-02, 3.021128e-02, 5.089236e-02, 7.159197e-03 },
        { 2.026387e-02, 8.221336e-03, 1.158508e-01, 7.509481e-02, 1.539801e-01, 7.094277e-02 },
        { 1.234429e-02, 6.413762e-03, 6.783502e-02, 2.433591e-02, 6.219362e-02, 9.506206e-03 },
    },
};

// A scheme of order p smears fronts over h^(p/(p + 1)). Velocity and force jump there, and are off by the root of that
// in L2 and by that itself in L1. Where nothing damps the ripples behind a front, they fall off like the integral of an
// Airy function, x^(-3/4), which gives 1/3 in L2 still and 1/2 in L1 for p = 2. The time of the next impact, and so the
// displacement, is off by the width of the front.
enum { DAMPED, UNDAMPED, FIRST_ORDER };
static const int KIND[REFINE_METHODS] = { DAMPED, UNDAMPED, FIRST_ORDER, UNDAMPED, UNDAMPED, UNDAMPED };
static const double RATE[][6] = {
    // displacement, velocity and force, each in L2 and L1
    { 2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0 },
    { 2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 2.0 },
    { 1.0 / 2.0, 1.0 / 2.0, 1.0 / 4.0, 1.0 / 2.0, 1.0 / 4.0, 1.0 / 2.0 },
};

// The order over three halvings. Impacts fall anywhere in a step, which is N^(-1/3) of the front, 0.27 at N = 50: a
// third of the rate is left to that.
static void check_orders(int p, int kind, const refine_method *method)
{
    case_errors coarse = refine_measure(&refine_problems[p], method, 50, 200);
    case_errors fine = refine_measure(&refine_problems[p], method, 400, 200);
    const double *a = (const double *)&coarse, *b = (const double *)&fine;
    for (int i = 0; i < 6; i++) {
        double order = log2(a[i] / b[i]) / 3.0;
        if (!(order > 2.0 / 3.0 * RATE[kind][i]))
            fail_msg("%s, %s: order %.2f in norm %d\n", refine_problems[p].path, method->name, order, i);
    }
}

TEST(orders_under_refinement)
{
    for (int p = 0; p < REFINE_PROBLEMS; p++)
        for (int m = 0; m < REFINE_METHODS; m++) check_orders(p, KIND[m], &refine_methods[m]);
}

TEST(errors_equal_a_separate_implementation)
{
    for (int p = 0; p < REFINE_PROBLEMS; p++)
        for (int m = 0; m < REFINE_METHODS; m++) {
            case_errors errors = refine_measure(&refine_problems[p], &refine_methods[m], 100, 200);
            const double *e = (const double *)&errors;
            for (int i = 0; i < 6; i++) {
                if (!(fabs(e[i] - SEPARATE[p][m][i]) <= 1e-4 * SEPARATE[p][m][i]))
                    print_message("%s, %s: norm %d\n", refine_problems[p].path, refine_methods[m].name, i);
                CHECK_RELATIVE(e[i], SEPARATE[p][m][i], 1e-4);
            }
        }
}
