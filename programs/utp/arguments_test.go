package main

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
)

func itoa(port uint16) string {
	return strconv.Itoa(int(port))
}

func TestArguments(t *testing.T) {
	for line, want := range map[string]any{
		"receive 5000": receiveCommand{5000},
		"--help":       helpCommand{},
		"send 10.0.0.1 5000 2.5 --target-ms 25": sendCommand{
			netip.MustParseAddrPort("10.0.0.1:5000"), 2500 * time.Millisecond, 25 * time.Millisecond, 1},
		"send 10.0.0.1 5000 1 --seed 5": sendCommand{
			netip.MustParseAddrPort("10.0.0.1:5000"), time.Second, 0, 5},
		"send --target-ms 0.5e3 10.0.0.1 5000 30": sendCommand{
			netip.MustParseAddrPort("10.0.0.1:5000"), 30 * time.Second, 500 * time.Millisecond, 1},
	} {
		if got, err := parse(strings.Fields(line)); err != nil || got != want {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	}
}

func TestWhatIsWrongIsNamedWithWhatIsAllowed(t *testing.T) {
	for line, want := range map[string]string{
		"":                              "a command is missing; allowed: receive, send (--help explains)",
		"listen 5000":                   `no command "listen"; allowed: receive, send (--help explains)`,
		"receive":                       "receive: 0 arguments; allowed: receive PORT",
		"receive 0":                     `port "0"; allowed: 1 to 65535`,
		"send 10.0.0.1 5000":            "send: 2 arguments; allowed: send IP PORT DURATION [--target-ms N] [--seed N]",
		"send host 5000 1":              `address "host"; allowed: an IPv4 address`,
		"send 10.0.0.1 5000 NaN":        `duration "NaN"; allowed: 0.001 to 1e+06`,
		"send 10.0.0.1 5 1 --target-ms": `--target-ms ""; allowed: 1 to 10000`,
		"send 10.0.0.1 5 1 --seed -1":   `--seed "-1"; allowed: 0 to 4.294967295e+09`,
	} {
		if _, err := parse(strings.Fields(line)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, not %s", line, err, want)
		}
	}
}
