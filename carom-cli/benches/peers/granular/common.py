"""The pour of benches/granular/pour.toml for other engines: places, and what is measured in the same way for all."""
import json
import math
import sys

import numpy as np

R, DENSITY, G, SIDE = 0.1, 1000.0, 9.81, 10
HALF, WALL, TALL = 1.1 * R * SIDE + 0.1, 0.5, 6.0
MASS = DENSITY * 4 / 3 * math.pi * R**3


def arguments():
    """Balls, steps, step size, friction."""
    n, steps, h, mu = sys.argv[1:5]
    return int(n), int(steps), float(h), float(mu)


def places(n):
    for number in range(n):
        i, j, k = number % SIDE, number // SIDE % SIDE, number // SIDE**2
        yield (
            R * (2.2 * (i - 4.5) + 0.05 * math.sin(7 * i + 3 * j + 5 * k)),
            R * (2.2 * (j - 4.5) + 0.05 * math.cos(5 * i + 7 * j + 3 * k)),
            R * (1.2 + 2.2 * k + 0.05 * math.sin(3 * i + 5 * j + 7 * k)),
        )


def boxes():
    """Half sizes and middles of floor and walls."""
    yield (2 * HALF, 2 * HALF, WALL / 2), (0, 0, -WALL / 2)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        half = (WALL / 2 if x else 2 * HALF, WALL / 2 if y else 2 * HALF, TALL / 2)
        yield half, (x * (HALF + WALL / 2), y * (HALF + WALL / 2), TALL / 2)


def penetration(x):
    """The deepest of all overlaps, in radii."""
    worst = max((R - x[:, 2]).max(), (np.abs(x[:, :2]) + R - HALF).max(), 0.0)
    for k in range(len(x) - 1):
        near = x[k + 1 :] - x[k]
        worst = max(worst, 2 * R - math.sqrt((near * near).sum(axis=1).min()))
    return worst / R


class Report:
    """Times step by step; one line of JSON at the end."""

    def __init__(self, steps):
        self.part = max(1, steps // 10)
        self.seconds, self.residual = [], 0.0

    def step(self, seconds, residual=0.0):
        self.seconds.append(seconds)
        self.residual = max(self.residual, residual)

    def end(self, x, v, contacts):
        x, v = np.asarray(x, float), np.asarray(v, float)
        micro = lambda part: 1e6 * sum(part) / len(part)
        line = dict(
            first=micro(self.seconds[: self.part]),
            last=micro(self.seconds[-self.part :]),
            mean=micro(self.seconds),
            contacts=int(contacts),
            residual=self.residual,
            penetration=penetration(x),
            height=float(x[:, 2].mean()) / R,
            speed=float(np.sqrt((v * v).sum(axis=1).max())),
        )
        print(json.dumps(line), flush=True)
