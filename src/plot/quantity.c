#include "plot/quantity.h"

#include <stddef.h>
#include <string.h>

typedef struct quantity {
    const char *part, *unit, *name;
} quantity;

static const quantity quantities[] = {
    { "t", "s", "time" },
    { "kinetic", "J", "energy" },
    { "strain", "J", "energy" },
    { "potential", "J", "energy" },
    { "E", "J", "energy" },
    { "energy", "J", "energy" },
    { "external_work", "J", "work" },
    { "correction_work", "J", "work" },
    { "work", "J", "work" },
    { "damping_loss", "J", "loss" },
    { "impact_loss", "J", "loss" },
    { "friction_loss", "J", "loss" },
    { "numerical_loss", "J", "loss" },
    { "loss", "J", "loss" },
    { "momentum_x", "kg m/s", "momentum" },
    { "momentum_y", "kg m/s", "momentum" },
    { "momentum_z", "kg m/s", "momentum" },
    { "gap", "m", "gap" },
    { "min_gap", "m", "gap" },
    { "gap_rate", "m/s", "gap rate" },
    { "rate", "m/s", "rate" },
    { "slide", "m", "sliding distance" },
    { "sliding", "m", "sliding distance" },
    { "force", "N", "force" },
    { "peak_force", "N", "force" },
    { "impulse", "N s", "impulse" },
    { "step_impulse", "N s", "impulse" },
    { "fx", "N", "force" },
    { "fy", "N", "force" },
    { "fz", "N", "force" },
    { "mx", "N m", "moment" },
    { "my", "N m", "moment" },
    { "mz", "N m", "moment" },
    { "x", "m", "position" },
    { "y", "m", "position" },
    { "z", "m", "position" },
    { "ux", "m", "displacement" },
    { "uy", "m", "displacement" },
    { "uz", "m", "displacement" },
    { "vx", "m/s", "velocity" },
    { "vy", "m/s", "velocity" },
    { "vz", "m/s", "velocity" },
    { "rx", "rad", "rotation" },
    { "ry", "rad", "rotation" },
    { "rz", "rad", "rotation" },
    { "wx", "rad/s", "angular velocity" },
    { "wy", "rad/s", "angular velocity" },
    { "wz", "rad/s", "angular velocity" },
    { "stress", "Pa", "stress" },
    { "step_size", "s", "step size" },
    { "h", "s", "step size" },
};

static const quantity *quantity_find(const char *column)
{
    const char *dot = strrchr(column, '.'), *part = dot == NULL ? column : dot + 1;
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
        if (strcmp(quantities[i].part, part) == 0) return &quantities[i];
    return NULL;
}

const char *pcs_quantity_unit(const char *column)
{
    const quantity *q = quantity_find(column);
    return q == NULL ? "" : q->unit;
}

const char *pcs_quantity_name(const char *column)
{
    const quantity *q = quantity_find(column);
    return q == NULL ? NULL : q->name;
}
