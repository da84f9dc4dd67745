"""Draws work_precision.csv of study_work_precision: error against force evaluations, one panel per problem.

  python3 tests/study/work_precision.py work_precision.csv work_precision.png
"""
import os
import sys

import matplotlib
import pandas

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python/percuss/percuss.mplstyle")
TITLES = {"ball": "Ball (impacts accumulate at t = 3)", "oscillator": "Impacting oscillator",
          "slider-crank": "Slider-crank without friction up to 0.05 s"}
MARKS = {"fixed": ("o", "-"), "controlled": ("s", "--"), "event-driven": ("D", "-"), "localised": ("^", "-")}


def main():
    table = pandas.read_csv(sys.argv[1])
    problem, kind, method, work, error = (table.columns[k] for k in (0, 1, 2, 5, 6))
    plt.style.use(STYLE)
    fig, axes = plt.subplots(2, 2, figsize=(9.0, 7.0))
    methods = table[[method, kind]].drop_duplicates().itertuples(index=False, name=None)
    for i, (name, how) in enumerate(methods):
        mark, dash = MARKS.get(how, ("o", ":"))
        look = {"marker": mark, "ls": dash, "color": f"C{i % 7}"}
        label = f"{name} ({how} step)" if how in ("fixed", "controlled") else name
        for ax, (key, title) in zip(axes.flat, TITLES.items()):
            rows = table[(table[problem] == key) & (table[method] == name) & (table[kind] == how)]
            if rows.empty:
                continue
            ax.plot(rows[work], rows[error], **look)
            ax.set(xscale="log", yscale="log", xlim=(1e2, 1e6), title=title, xlabel="force evaluations",
                   ylabel="L1 error of the " + ("angles" if key == "slider-crank" else "position"))
        axes[1, 1].plot([], [], label=label, **look)
    axes[1, 1].set_axis_off()
    axes[1, 1].legend(loc="center")
    fig.savefig(sys.argv[2], dpi=150)


if __name__ == "__main__":
    main()
