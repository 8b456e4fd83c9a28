package subprocess

const roleVar = "ZOT_TEST_ROLE"

var roles = map[string]func() int{}
