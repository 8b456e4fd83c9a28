package main

// managedOfScenario does nothing: the scenarios of an administrator are for
// systems where one can be played.
func managedOfScenario() {}
