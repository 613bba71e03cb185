#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_stats.py - writes stats.json, which tests/unit/test_stats.c compares with: what SciPy
(Debian: python3-scipy) makes of the values in it.

usage: tests/vectors/make_stats.py > tests/vectors/stats.json
"""
import json

import numpy
import scipy
from scipy import special, stats

TRIM_FROM, TRIM_PART = 8, 6
rng = numpy.random.default_rng(20)


def sample(n, shift=0.0, scale=0.01, outliers=()):
    values = rng.normal(shift, scale, n)
    for at, by in outliers:
        values[at] += by
    return [float(f"{value:.6g}") for value in values]


def trim(n):
    return n // TRIM_PART if n >= TRIM_FROM else 0


def interval(estimate, error, df):
    half = stats.t.ppf(0.975, df) * error
    return [estimate - half, estimate + half]


def paired(values):
    """SciPy has the t of a trimmed mean for two samples alone; that of one is Yuen's share of it."""
    n, cut = len(values), trim(len(values))
    kept = stats.trimboth(values, cut / n + 1e-9)
    wins = numpy.asarray(stats.mstats.winsorize(numpy.array(values), limits=(cut / n + 1e-9,) * 2))
    h = n - 2 * cut
    error = numpy.sqrt(((wins - wins.mean()) ** 2).sum() / (h * (h - 1)))
    estimate = kept.mean()
    if cut == 0:
        test = stats.ttest_1samp(values, 0)
        assert abs(test.statistic - estimate / error) < 1e-9 * abs(test.statistic)
    return {"values": values, "estimate": estimate, "error": error, "df": h - 1,
            "interval": interval(estimate, error, h - 1),
            "p": 2 * stats.t.sf(abs(estimate / error), h - 1), "trimmed": cut}


def separate(base, head):
    is_trimmed = min(len(base), len(head)) >= TRIM_FROM
    test = stats.ttest_ind(head, base, equal_var=False, trim=1 / TRIM_PART + 1e-9 if is_trimmed else 0)
    return {"base": base, "head": head, "t": test.statistic, "p": test.pvalue}


cases = {
    "made_by": f"tests/vectors/make_stats.py, SciPy {scipy.__version__}",
    "beta": [[x, a, b, special.betainc(a, b, x)] for x, a, b in
             [(0.5, 1, 1), (0.1, 2, 3), (0.9, 2, 3), (1e-6, 0.5, 0.5), (0.999, 50, 0.5), (0.3, 500, 0.5)]],
    "t_cdf": [[t, df, stats.t.cdf(t, df)] for df in (1, 2, 2.7, 4, 9, 30.5, 1000)
              for t in (-40, -3, -0.5, 0, 1e-3, 1, 2.5, 10)],
    "t_quantile": [[p, df, stats.t.ppf(p, df)] for df in (1, 1.3, 2, 4, 7.9, 9, 40, 1000)
                   for p in (0.001, 0.05, 0.5, 0.75, 0.975, 0.99167, 0.9999)],
    "paired": [paired(sample(*given)) for given in
               [(2,), (3, 0.02), (5, 0.03), (7,), (8, 0.01), (10, -0.03), (10, 0, 0.01, ((3, 1.1),)),
                (12, 0.01), (25, 0.0, 0.2)]],
    "separate": [separate(sample(*one), sample(*other)) for one, other in
                 [((3,), (3, 0.02)), ((5,), (5, 0.03)), ((5, 0, 0.05), (9, 0.01)), ((4,), (20, 0, 0.1)),
                  ((8,), (8, 0.01)), ((10, 0, 0.01, ((2, 0.9),)), (14, 0.02)), ((30,), (9, 0, 0.03))]],
}
def lines(value):
    """A line for each of a list's members."""
    if isinstance(value, list):
        return "[\n" + ",\n".join("  " + json.dumps(item) for item in value) + "\n ]"
    return json.dumps(value)


print("{\n" + ",\n".join(f" {json.dumps(name)}: {lines(value)}" for name, value in cases.items()) + "\n}")
