// The main function of test programs: it runs what TEST defines.

#include "support/check.h"

int main(void)
{
    return check_run_tests();
}
