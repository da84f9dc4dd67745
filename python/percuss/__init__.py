from .simulation import *
from .simulation import load, Simulation, State
