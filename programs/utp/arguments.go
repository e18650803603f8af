package main

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"time"
)

const help = `dumbbell-utp: bulk data over uTP (libutp)

usage:
  dumbbell-utp receive PORT
  dumbbell-utp send IP PORT DURATION [--target-ms N] [--seed N]

DURATION is in seconds. --target-ms sets the queueing delay that libutp aims at, 1 to 10000 (its own default: 100).
--seed is given to the C library, whose rand() is where libutp takes the connection's first number from (default: 1, what C
has without a seed, and so every program that gives none).
`

type receiveCommand struct {
	port uint16
}

type sendCommand struct {
	peer     netip.AddrPort
	duration time.Duration
	// Zero: libutp's own.
	target time.Duration
	// Of the C library's rand().
	seed uint32
}

type helpCommand struct{}

// parse reads the words after the program's name. An error is one line.
func parse(words []string) (any, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("a command is missing; allowed: receive, send (--help explains)")
	}
	for _, word := range words {
		if word == "--help" || word == "-h" {
			return helpCommand{}, nil
		}
	}
	switch words[0] {
	case "receive":
		return parseReceive(words[1:])
	case "send":
		return parseSend(words[1:])
	default:
		return nil, fmt.Errorf("no command %q; allowed: receive, send (--help explains)", words[0])
	}
}

func parseReceive(words []string) (any, error) {
	if len(words) != 1 {
		return nil, fmt.Errorf("receive: %d arguments; allowed: receive PORT", len(words))
	}
	port, err := parsePort(words[0])
	return receiveCommand{port}, err
}

func parseSend(words []string) (any, error) {
	var places []string
	// With their limits.
	options := map[string][2]float64{"--target-ms": {1, 10_000}, "--seed": {0, math.MaxUint32}}
	given := map[string]float64{"--seed": 1}
	for i := 0; i < len(words); i++ {
		limits, isOption := options[words[i]]
		if !isOption {
			places = append(places, words[i])
			continue
		}
		name, word := words[i], ""
		if i++; i < len(words) {
			word = words[i]
		}
		value, err := parseNumber(name, word, limits[0], limits[1])
		if err != nil {
			return nil, err
		}
		given[name] = value
	}
	if len(places) != 3 {
		return nil, fmt.Errorf("send: %d arguments; allowed: send IP PORT DURATION [--target-ms N] [--seed N]", len(places))
	}
	address, err := netip.ParseAddr(places[0])
	if err != nil || !address.Is4() {
		return nil, fmt.Errorf("address %q; allowed: an IPv4 address", places[0])
	}
	port, err := parsePort(places[1])
	if err != nil {
		return nil, err
	}
	seconds, err := parseNumber("duration", places[2], 0.001, 1e6)
	if err != nil {
		return nil, err
	}
	return sendCommand{
		peer:     netip.AddrPortFrom(address, port),
		duration: time.Duration(seconds * float64(time.Second)),
		target:   time.Duration(given["--target-ms"] * float64(time.Millisecond)),
		seed:     uint32(given["--seed"]),
	}, nil
}

func parsePort(word string) (uint16, error) {
	port, err := strconv.ParseUint(word, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("port %q; allowed: 1 to 65535", word)
	}
	return uint16(port), nil
}

func parseNumber(name, word string, least, most float64) (float64, error) {
	value, err := strconv.ParseFloat(word, 64)
	if err != nil || math.IsNaN(value) || value < least || value > most {
		return 0, fmt.Errorf("%s %q; allowed: %v to %v", name, word, least, most)
	}
	return value, nil
}
