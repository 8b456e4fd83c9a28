package runcmd

import (
	"sync"

	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/runtime/provider/demo"
)

// A demoModel is the scripted model of the provider demo, which zot itself
// serves on loopback once it is chosen and no other address was given for it.
type demoModel struct {
	mu     sync.Mutex
	server *demo.Server // nil before
}

// serve starts the model where o chooses it, and adds its address.
func (d *demoModel) serve(o *provider.Options) error {
	if info, err := provider.Choose(*o); err != nil || info.ID != provider.DemoID || o.BaseURL != "" {
		return nil // what is wrong with the choice, the connection says
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server == nil {
		server, err := demo.Start(demo.Options{})
		if err != nil {
			return err
		}
		d.server = server
	}
	o.BaseURL = d.server.URL()
	return nil
}

func (d *demoModel) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		_ = d.server.Close()
	}
}
