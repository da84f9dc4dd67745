"""Every allocation fails in turn, alone and with all after it, from the case to closed files.

Third-party libraries are part of it. Where there is not time for all, a share of them is taken, evenly, and another one
for each case.
"""

import shutil

import faults
import parts


def campaign(c):
    plan, commands = [], list(parts.commands(c))
    if c.most is not None:
        commands = c.random.sample(commands, 4)
    for name, command in commands:
        shutil.rmtree(c.path("out"), ignore_errors=True)
        result, count = c.faulty("alloc", 0, *command)
        if c.check(result.status == 0, f"{name}: exit {result.status} {result.err.strip()[-300:]}"):
            plan += [(name, command, nth, count) for nth in range(1, count + 1)]
    c.random.shuffle(plan)
    print(f"  {len(plan)} allocations, each alone or with all after it", flush=True)
    for name, command, nth, count in plan:
        if not c.goes_on():
            break
        lasts = c.random.random() < 0.5
        shutil.rmtree(c.path("out"), ignore_errors=True)
        result, _ = c.faulty("alloc", nth, *command, lasts=lasts)
        c.ends_well(f"{name}: allocation {nth} of {count} fails{' with all after it' if lasts else ''}", result)


faults.main(campaign, "120")
