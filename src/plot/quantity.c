#include "plot/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct quantity {
    const char *part; // the last one of a column's name; a star stands for digits
    const char *unit, *name;
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
    { "material_loss", "J", "loss" },
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
    { "mean_force", "N", "force" },
    { "total_impulse", "N s", "impulse" },
    { "time_in_contact", "s", "time" },
    { "impulse", "N s", "impulse" },
    { "step_impulse", "N s", "impulse" },
    { "fx", "N", "force" },
    { "fy", "N", "force" },
    { "fz", "N", "force" },
    { "tangential", "N", "force" },
    { "separating", "N", "force" },
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
    { "s", "m", "position" },
    { "n", "m", "position" },
    { "height", "m", "position" },
    { "position", "m", "position" },
    { "lower", "m", "position" },
    { "upper", "m", "position" },
    { "v_s", "m/s", "velocity" },
    { "v_n", "m/s", "velocity" },
    { "v_height", "m/s", "velocity" },
    { "v_position", "m/s", "velocity" },
    { "v_lower", "m/s", "velocity" },
    { "v_upper", "m/s", "velocity" },
    { "v_x", "m/s", "velocity" },
    { "v_y", "m/s", "velocity" },
    { "v_z", "m/s", "velocity" },
    { "friction", "N", "friction" },
    { "theta*", "rad", "angle" },
    { "v_theta*", "rad/s", "angular velocity" },
    { "velocity", "m/s", "velocity" },
    { "axial_force", "N", "force" },
    { "shear_force", "N", "force" },
    { "shear_y", "N", "force" },
    { "shear_z", "N", "force" },
    { "torque", "N m", "moment" },
    { "moment", "N m", "moment" },
    { "moment_start", "N m", "moment" },
    { "moment_end", "N m", "moment" },
    { "moment_y", "N m", "moment" },
    { "moment_z", "N m", "moment" },
    { "angular_momentum", "kg m^2/s", "angular momentum" },
    { "elongation", "m", "elongation" },
    { "strain_energy", "J", "energy" },
    { "kinetic_energy", "J", "energy" },
    { "plastic_work", "J", "work" },
    { "viscous_loss", "J", "loss" },
    { "stress", "Pa", "stress" },
    { "bending_stress", "Pa", "stress" },
    { "step_size", "s", "step size" },
    { "h", "s", "step size" },
};

static bool quantity_fits(const char *pattern, const char *part)
{
    size_t length = strcspn(pattern, "*");
    if (strncmp(pattern, part, length) != 0) return false;
    part += length;
    if (pattern[length] == '*') part += strspn(part, "0123456789");
    return *part == '\0';
}

static const quantity *quantity_find(const char *column)
{
    const char *dot = strrchr(column, '.'), *part = dot == NULL ? column : dot + 1;
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
        if (quantity_fits(quantities[i].part, part)) return &quantities[i];
    return NULL;
}

const char *pcs_quantity_unit(const char *column)
{
    const quantity *q = quantity_find(column);
    bool is_energy = strncmp(column, "energy.", 7) == 0; // energy.final and the like of a summary
    if (q == NULL && is_energy) return "J";
    return q == NULL ? "" : q->unit;
}

const char *pcs_quantity_name(const char *column)
{
    const quantity *q = quantity_find(column);
    return q == NULL ? NULL : q->name;
}
