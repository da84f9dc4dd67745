"""Closed forms that curves and errors of the gallery are held against."""
import math


def bounce(t, gap, gravity, restitution):
    """Height and velocity of a point that is dropped from `gap`, bounces and rests after finitely long."""
    start, speed = -math.sqrt(2.0 * gap / gravity), math.sqrt(2.0 * gap * gravity)
    if t >= -start * (1.0 + restitution) / (1.0 - restitution) * (1.0 - 1e-15):
        return 0.0, 0.0
    while t >= start + 2.0 * speed / gravity:
        start += 2.0 * speed / gravity
        speed *= restitution
    return (t - start) * (speed - 0.5 * gravity * (t - start)), speed - gravity * (t - start)


def ball(t):
    """Gap of the case ball."""
    return bounce(t, 0.801, 10.0, 0.8)[0]


def ball_rate(t):
    return bounce(t, 0.801, 10.0, 0.8)[1]


def ball_f2(t):
    """Height of the case ball_f2."""
    return bounce(t, 1.0, 2.0, 0.5)[0]


def ball_f2_rate(t):
    return bounce(t, 1.0, 2.0, 0.5)[1]


def ball_f2_impulse(t):
    """Sum of impulses: momentum that gravity has given and the ball does not have."""
    return 2.0 * t + ball_f2_rate(t)


def swing(t):
    """Number and start of a half-swing of the case impacting_oscillator."""
    n = max(0, math.floor((t - 0.25) / 0.5) + 1)
    return n, 0.25 + 0.5 * (n - 1)


def oscillator(t):
    n, start = swing(t)
    return 0.5**n * math.sin(2.0 * math.pi * (t - start))


def oscillator_rate(t):
    n, start = swing(t)
    return 0.5**n * 2.0 * math.pi * math.cos(2.0 * math.pi * (t - start))


def doyen(t):
    """The case bar_bouncing at its mirrored time: -T/2 .. T/2 are alike."""
    t = math.fmod(t, 16.0 / 3.0)
    return min(t, 16.0 / 3.0 - t)


def doyen_gap(t):
    s = doyen(t)
    if s < 1.0:
        return 5.0 - 5.0 * s * s
    a = s - 5.0 / 3.0
    z = math.fmod(a, 2.0 / 3.0)
    return 0.0 if a < 0.0 else 10.0 * a - 5.0 * a * a + 10.0 * z * z - 20.0 / 3.0 * z


def doyen_force(t):
    s = doyen(t)
    return 300.0 * s if 1.0 <= s < 5.0 / 3.0 else 0.0


def stick_slip(t, part=1e-5):
    """Place of the block in the case stick_slip, by small steps of the exact law of each phase."""
    x, v, time = 0.0, 0.0, 0.0
    while time < t - 0.5 * part:
        push = 5.0 * math.sin(2.0 * math.pi * (time + 0.5 * part))
        if v == 0.0 and abs(push) <= 3.0:
            time += part
            continue
        side = math.copysign(1.0, v if v != 0.0 else push)
        w = v + part * (push - 3.0 * side)
        if w * side < 0.0:
            w = 0.0
        x, v, time = x + 0.5 * part * (v + w), w, time + part
    return x
