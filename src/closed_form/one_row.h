// The count of rows of systems that have one.

#ifndef PCS_CLOSED_FORM_ONE_ROW_H
#define PCS_CLOSED_FORM_ONE_ROW_H

static inline int pcs_one_row(const double *p)
{
    (void)p;
    return 1;
}

#endif
