#include "plot/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct quantity {
    const char *parts; // last parts of the names of columns, with blanks between them; a star stands for digits
    const char *unit, *name;
} quantity;

static const quantity quantities[] = {
    { "t time_in_contact first_time last_time", "s", "time" },
    { "kinetic strain potential E energy strain_energy kinetic_energy", "J", "energy" },
    { "external_work correction_work work plastic_work", "J", "work" },
    { "damping_loss material_loss impact_loss friction_loss numerical_loss loss viscous_loss", "J", "loss" },
    { "momentum_x momentum_y momentum_z", "kg m/s", "momentum" },
    { "gap min_gap", "m", "gap" },
    { "gap_rate", "m/s", "gap rate" },
    { "rate", "m/s", "rate" },
    { "slide sliding sliding_distance", "m", "sliding distance" },
    { "force peak_force mean_force filtered_peak_force fx fy fz tangential separating axial_force shear_force shear_y "
      "shear_z axial_start axial_end shear_start shear_end shear_y_start shear_y_end shear_z_start shear_z_end",
      "N", "force" },
    { "total_impulse impulse step_impulse", "N s", "impulse" },
    { "mx my mz torque moment moment_start moment_end moment_y moment_z moment_y_start moment_y_end moment_z_start "
      "moment_z_end",
      "N m", "moment" },
    { "x y z s n height position lower upper", "m", "position" },
    { "ux uy uz", "m", "displacement" },
    { "vx vy vz v_s v_n v_height v_position v_lower v_upper v_x v_y v_z velocity", "m/s", "velocity" },
    { "rx ry rz", "rad", "rotation" },
    { "wx wy wz v_theta*", "rad/s", "angular velocity" },
    { "friction", "N", "friction" },
    { "theta*", "rad", "angle" },
    { "angular_momentum", "kg m^2/s", "angular momentum" },
    { "elongation", "m", "elongation" },
    { "stress bending_stress stress_start stress_end", "Pa", "stress" },
    { "step_size h", "s", "step size" },
};

static bool quantity_fits(const char *patterns, const char *part)
{
    for (const char *p = patterns; *p != '\0'; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t length = strcspn(p, "* ");
        if (strncmp(p, part, length) != 0) continue;
        const char *rest = part + length;
        if (p[length] == '*') rest += strspn(rest, "0123456789");
        if (*rest == '\0') return true;
    }
    return false;
}

static const quantity *quantity_find(const char *column)
{
    const char *dot = strrchr(column, '.'), *part = dot == NULL ? column : dot + 1;
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
        if (quantity_fits(quantities[i].parts, part)) return &quantities[i];
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
