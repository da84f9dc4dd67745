// How exact numbers can be, in one place: a stop test asks for no more than this, and the certificate for no less.
//
// eps = 2.2e-16 is the round-off of one operation. A number that is computed as a sum is exact to eps times the sizes
// of its terms, not of itself, and a number that an iteration leaves over is exact to what its own stop test asks for.
// Each multiple below is of the size of the terms that cancel: of lengths for a gap, of velocities for a rate, of
// forces over the step for an equation of motion.

#ifndef PCS_CORE_ROUNDING_H
#define PCS_CORE_ROUNDING_H

#include <float.h>

// A sum of some hundred terms, of the sum of their sizes: what an evaluation alone may be off by.
#define PCS_ROUND_SUM (64.0 * DBL_EPSILON)
// Gaps and places, of the size of the model: a position is stored to eps of it and comes out of a few hundred
// operations.
#define PCS_ROUND_LENGTH 1e-13
// Velocities, impulses and momentum, of the largest velocity: they come out of an iteration that may end at 1e-12.
#define PCS_ROUND_VELOCITY 1e-11
// Forces inside a model that cancel in what is solved, of their sizes.
#define PCS_ROUND_FORCE 1e-12
// An equation of motion, of the momentum that velocities and position round-off could give to it.
#define PCS_ROUND_MOTION 1e-10
// Energies are squares of velocities.
#define PCS_ROUND_ENERGY 1e-11

#endif
