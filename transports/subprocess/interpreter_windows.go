package subprocess

// checkInterpreter has nothing to look at: the system goes by the suffix.
func checkInterpreter(Options) error { return nil }
