// Counts the allocations of the whole process, third-party libraries included, and makes chosen ones fail.
//
// A program that links this replaces malloc and its family (glibc only). Sanitizers and other C libraries
// have their own: alloc_fault_is_active then says so and the tests are skipped.

#ifndef TESTS_SUPPORT_ALLOC_FAULT_H
#define TESTS_SUPPORT_ALLOC_FAULT_H

#include <stdbool.h>

// Counting starts anew. The nth allocation from now on fails (0: none), and with `lasting` all after it.
void alloc_fault_arm(long nth, bool lasting);
// Requests since the last arm, the failed ones included.
long alloc_fault_requests(void);
// Blocks that are allocated and not yet freed.
long alloc_fault_live(void);
bool alloc_fault_is_active(void);

#endif
