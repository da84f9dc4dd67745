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


# The block of the case stick_slip is pushed by 5 sin(w t) and held by 3: it slides from sin(w t) = 0.6 on until it has
# come to rest, and does the same the other way half a period later.
PUSH_RATE = 2.0 * math.pi
SLIDE_START = math.asin(0.6) / PUSH_RATE


def slide_speed(t):
    return 5.0 / PUSH_RATE * (0.8 - math.cos(PUSH_RATE * t)) - 3.0 * (t - SLIDE_START)


def slide_end():
    """By bisection: the velocity has one zero after the largest push back."""
    low, high = 0.5, SLIDE_START + 0.5
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slide_speed(middle) > 0.0 else (low, middle)
    return low


SLIDE_END = slide_end()


def slide(t):
    """What the first slide has covered."""
    t = min(t, SLIDE_END)
    since = t - SLIDE_START
    return 4.0 / PUSH_RATE * since - 5.0 / PUSH_RATE**2 * (math.sin(PUSH_RATE * t) - 0.6) - 1.5 * since * since


def pushed_block(t):
    """Place of the block."""
    if t <= SLIDE_START:
        return 0.0
    n = math.floor(2.0 * (t - SLIDE_START))
    return slide(t - 0.5 * n) if n % 2 == 0 else slide(SLIDE_END) - slide(t - 0.5 * n)


def pushed_block_rate(t):
    n = math.floor(2.0 * (t - SLIDE_START))
    s = t - 0.5 * n
    return 0.0 if n < 0 or s > SLIDE_END else (-1.0)**n * slide_speed(s)


# The case hopkinson: a striker of 60 us sends a pulse through the incident bar, 400 us long, a specimen of 4 us and the
# transmitted bar. Gauges lie in the middle of cells, at 200.5 us and 100.5 us of their bars. At an end of the specimen
# the part r of a force is reflected, with r = (Z - z)/(Z + z) of the impedances; Z/z = 50.
STRIKE = 0.5 * 8000.0 * 5000.0 * math.pi * 1e-4 * 10.0  # N
KEPT = (50.0 - 1.0) / (50.0 + 1.0)
PULSE, ROUND_TRIP = 120e-6, 8e-6  # s


def transmitted_part(t):
    """Of a unit front that meets the specimen at 0, as it leaves it after 0, 1, 2 .. round trips."""
    return 1.0 - KEPT**(2 * (math.floor(t / ROUND_TRIP) + 1)) if t >= 0.0 else 0.0


def reflected_part(t):
    """-r at once, and what comes out after round trips."""
    return KEPT * (transmitted_part(t - ROUND_TRIP) - 1.0) if t >= 0.0 else 0.0


def hopkinson_incident(t):
    """Force of the gauge in the incident bar: the pulse and its reflection."""
    back = t - 599.5e-6
    pulse = 1.0 if 200.5e-6 <= t < 200.5e-6 + PULSE else 0.0
    return -STRIKE * (pulse + reflected_part(back) - reflected_part(back - PULSE))


def hopkinson_transmitted(t):
    through = t - 504.5e-6
    return -STRIKE * (transmitted_part(through) - transmitted_part(through - PULSE))
