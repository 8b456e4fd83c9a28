package fetch

import (
	"net/netip"
	"strings"
)

// globalV6 is all of IPv6 that is routed on the internet. What is outside of it
// needs no entry in the list: loopback, link-local, unique-local, multicast,
// and IPv4 addresses in the clothes of IPv6 (::ffff:0:0/96, 64:ff9b::/96).
var globalV6 = netip.MustParsePrefix("2000::/3")

// special are the ranges that IANA's registries of special-purpose addresses
// keep from the internet or that lead back into IPv4.
var special = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // shared by the customers of a carrier
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local; metadata of clouds
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // relays of 6to4
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, and broadcast
	"2001::/23",       // protocol assignments; Teredo
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4, which holds an IPv4 address
	"3fff::/20",       // documentation
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// public says whether an address is one of the internet at large. An IPv6
// address that stands for one of IPv4 never is.
func public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !globalV6.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// localName says whether a host name can only mean this machine or its network:
// nobody can register it. Any other name is its owner's to point where he
// likes, so that naming it in a grant opens no address but public ones.
func localName(host string) bool {
	for _, tail := range []string{".localhost", ".local", ".internal", ".home.arpa"} {
		if strings.HasSuffix(host, tail) {
			return true
		}
	}
	return !strings.Contains(host, ".")
}
