package subprocess

const hasParentDeathSignal = true
