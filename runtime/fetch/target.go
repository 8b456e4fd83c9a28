package fetch

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// maxURL bounds an address, in bytes.
const maxURL = 8 << 10

// A target is where a request goes.
type target struct {
	url  *url.URL   // with the host in its one spelling, and no fragment
	host string     // in lower case and ASCII; of an IP address without brackets
	addr netip.Addr // of a host that is one
	port uint16
}

// parseTarget reads an absolute address.
func parseTarget(text string) (*target, error) {
	invalid := func(what string) (*target, error) {
		return nil, refuse(extproto.CodeInvalid, "url: %s", what)
	}
	if len(text) > maxURL {
		return invalid("it is longer than " + strconv.Itoa(maxURL) + " bytes")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return invalid(err.Error())
	case u.Scheme != "http" && u.Scheme != "https":
		return invalid("it must begin with https:// or http://")
	case u.Opaque != "" || u.Hostname() == "":
		return invalid("it names no host")
	case u.User != nil:
		return invalid("it holds a user name; send an Authorization header instead")
	}
	t := &target{url: u}
	if t.port, err = portOf(u); err != nil {
		return invalid(err.Error())
	}
	if reason := t.readHost(u.Hostname()); reason != "" {
		return invalid(reason)
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = t.hostport()
	if u.Port() == defaultPorts[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	return t, nil
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

func portOf(u *url.URL) (uint16, error) {
	text := u.Port()
	if text == "" {
		text = defaultPorts[u.Scheme]
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err == nil && port == 0 {
		err = &strconv.NumError{Func: "port", Num: text, Err: strconv.ErrRange}
	}
	return uint16(port), err
}

// readHost brings the host to its one spelling, or says what is wrong with it.
func (t *target) readHost(host string) (fault string) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "an address with a zone is not supported"
		}
		t.addr, t.host = addr, addr.String()
		return ""
	}
	if strings.Contains(host, ":") {
		return "its host is not an IP address"
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || ascii == "" || len(ascii) > 253 {
		return "its host is not a name"
	}
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	if last == "" || isNumber(last) {
		// Some resolvers take 127.1, 2130706433 or 0x7f.1 for an address.
		return "its host is neither a name nor a complete IP address"
	}
	t.host = ascii
	return ""
}

// isNumber says whether a label could be read as one, in any base.
func isNumber(label string) bool {
	_, err := strconv.ParseUint(label, 0, 64)
	return err == nil || strings.Trim(label, "0123456789") == "" || strings.HasPrefix(label, "0x")
}

// hostport is what policy is asked about.
func (t *target) hostport() string {
	return net.JoinHostPort(t.host, strconv.Itoa(int(t.port)))
}

// origin is what decides whether a redirect stays where it was.
func (t *target) origin() string { return t.url.Scheme + "://" + t.hostport() }

// next is where a redirect leads.
func (t *target) next(location string) (*target, error) {
	if len(location) > maxURL {
		return nil, refuse(extproto.CodeFailed, "the server redirects to an address of %d bytes", len(location))
	}
	u, err := t.url.Parse(location)
	if err != nil {
		return nil, refuse(extproto.CodeFailed, "the server redirects to what is no address: %v", err)
	}
	to, err := parseTarget(u.String())
	if err != nil {
		return nil, refuse(extproto.CodeDenied, "the server redirects to %q, which is not followed", clip(u.Redacted()))
	}
	return to, nil
}

// clip shortens what a server sent for a message.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
