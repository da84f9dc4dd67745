"""Random calls of the library about one case: going back gives the same steps, to the last bit. Arguments: case, seed.

States are kept in memory and in files, restored in the same simulation and in another one; the end must be that of a
simulation left alone.
"""

import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

import percuss  # noqa: E402


def bits(sim):
    return sim.time, sim.q.tobytes(), sim.v.tobytes(), repr(sim.energy)


def look(sim):
    """Everything that can be read."""
    for contact in sim.contacts.values():
        contact.gap, contact.force, contact.forces, contact.is_closed
    try:
        sim.a
    except percuss.InputError as error:
        assert "scheme wave" in str(error), error
    return sim.reactions, sim.certificate, sim.effort, sim.force, sim.contact_force


def wander(sim, rng, other):
    """Some steps, back again, on in another simulation; gives the one that is ahead."""
    for _ in range(rng.randint(1, 8)):
        for _ in range(rng.randint(0, 6)):
            if not sim.is_done:
                sim.step()
        here = bits(sim)
        kept = sim.keep()
        sim.save("kept.state")
        look(sim)
        for _ in range(rng.randint(0, 4)):
            if not sim.is_done:
                sim.step()
        if rng.random() < 0.3:
            sim, other = other, sim
            sim.restore("kept.state")
        else:
            sim.restore(kept if rng.random() < 0.7 else "kept.state")
        assert bits(sim) == here, "a state that was restored is another one"
    return sim


def main():
    case, rng = sys.argv[1], random.Random(int(sys.argv[2]))
    alone = percuss.load(case)
    alone.run()
    sim = wander(percuss.load(case), rng, percuss.load(case))
    sim.run()
    assert bits(sim) == bits(alone), "the end is another one after states were restored"


main()
