// Seconds of wall time from some fixed moment.

#ifndef PCS_CORE_CLOCK_H
#define PCS_CORE_CLOCK_H

double pcs_clock(void);

#endif
