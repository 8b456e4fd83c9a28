package tui

import "errors"

const canSuspend = false

var (
	defaultEditor = []string{"notepad"}
	defaultPager  = []string{"more"}
)

func suspendProcess() error { return errors.New("this system cannot suspend a program") }
