// Runs scripts (docs/how-to/vectors.md) with a controller in Go: put yours in the place of reno.
//
//	go run runner.go SCRIPT...
package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// RFC 5681 in packets; undo is the state before the latest loss.
type reno struct{ cwnd, ssthresh, undoCwnd, undoSsthresh float64 }

func (r *reno) onAck(packets float64, inRecovery, windowLimited bool) {
	if inRecovery || !windowLimited {
		return
	}
	grown := math.Min(packets, math.Max(r.ssthresh-r.cwnd, 0)) // slow start, equation 2
	r.cwnd += grown
	r.cwnd += (packets - grown) / r.cwnd // congestion avoidance, equation 3
}

func (r *reno) onCongestion(isLoss bool) {
	r.undoCwnd, r.undoSsthresh = 0, 0
	if isLoss {
		r.undoCwnd, r.undoSsthresh = r.cwnd, r.ssthresh
	}
	r.ssthresh = math.Max(r.cwnd/2, 2) // equation 4
	r.cwnd = r.ssthresh
}

func (r *reno) onTimeout(repeated bool) {
	if !repeated {
		r.ssthresh = math.Max(r.cwnd/2, 2)
	}
	r.cwnd, r.undoCwnd = 1, 0
}

func (r *reno) onSpurious() {
	if r.undoCwnd > 0 {
		r.cwnd, r.ssthresh, r.undoCwnd = r.undoCwnd, r.undoSsthresh, 0
	}
}

func number(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("not a number: " + text)
	}
	return value
}

func numbers(text string) (list []int) {
	for _, part := range strings.Split(text, ",") {
		ends := strings.Split(part, "..")
		for n := int(number(ends[0])); n <= int(number(ends[len(ends)-1])); n++ {
			list = append(list, n)
		}
	}
	return list
}

func holds(condition string, r *reno) bool {
	at := strings.IndexAny(condition, "><=")
	operator := condition[at : strings.IndexByte(condition, '=')+1]
	value, known := map[string]float64{"cwnd": r.cwnd, "ssthresh": r.ssthresh}[condition[:at]]
	text, by, _ := strings.Cut(condition[at+len(operator):], "~")
	if text == "none" || !known {
		return known && math.IsInf(value, 1)
	}
	wanted := number(text)
	near := 1e-6 * math.Abs(wanted)
	if percent, is := strings.CutSuffix(by, "%"); is {
		near = number(percent) / 100 * math.Abs(wanted)
	} else if by != "" {
		near = number(by)
	}
	return map[string]bool{">=": value >= wanted, "<=": value <= wanted, "=": math.Abs(value-wanted) <= near}[operator]
}

type packet struct {
	bytes, atSend int // atSend: delivered when it left
	inFlight      bool
}

func run(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	header, sent, passed := map[string]string{"mss": "1000", "window": "10"}, map[int]*packet{}, true
	var r *reno
	var inFlight, delivered, episodeFrom, roundEnds, next int
	var inEpisode, timedOut, limited, limitedBefore bool
	ack := func(list []int, mss int, given string) {
		bytes, newest := 0, list[len(list)-1]
		for _, n := range list {
			bytes += sent[n].bytes
			if sent[n].inFlight {
				inFlight, sent[n].inFlight = inFlight-sent[n].bytes, false
			}
		}
		delivered, timedOut, inEpisode = delivered+bytes, false, inEpisode && newest < episodeFrom
		r.onAck(float64(bytes)/float64(mss), inEpisode, given == "yes" || (given == "" && (limited || limitedBefore)))
		if sent[newest].atSend >= roundEnds {
			roundEnds, limitedBefore, limited = delivered, limited, false
		}
	}
	send := func(n, bytes, mss int) {
		sent[n] = &packet{bytes, delivered, true}
		inFlight, next = inFlight+bytes, n+1
		limited = limited || inFlight+mss > int(r.cwnd*float64(mss))
	}
	for index, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 || index == 0 {
			continue
		}
		if words[0][0] != '@' && words[0] != "expect" {
			header[words[0]] = words[1]
			continue
		}
		mss := int(number(header["mss"]))
		if r == nil {
			r = &reno{cwnd: number(header["window"]), ssthresh: math.Inf(1)}
		}
		if words[0] == "expect" {
			for _, condition := range words[1:] {
				if !holds(condition, r) {
					fmt.Printf("%s: line %d: %s, but cwnd=%g ssthresh=%g\n", file, index+1, condition, r.cwnd, r.ssthresh)
					passed = false
				}
			}
			continue
		}
		var list []int
		fields := map[string]string{"every": "", "bytes": header["mss"], "ce": "", "packets": "", "window_limited": "", "releases": ""}
		for _, word := range words[2:] {
			if key, value, is := strings.Cut(word, "="); !is {
				list = numbers(word)
			} else if _, known := fields[key]; known {
				fields[key] = value
			} else {
				panic(fmt.Sprintf("%s: line %d: not understood by this runner: %s", file, index+1, word))
			}
		}
		switch words[1] {
		case "sent":
			for _, n := range list {
				send(n, int(number(fields["bytes"])), mss)
			}
		case "ack":
			var released []int
			if fields["releases"] != "" {
				released = numbers(fields["releases"])
			}
			step, left := len(list), 0
			if fields["every"] != "" {
				step = 1
			}
			for i := step; i <= len(list); i += step {
				ack(list[i-step:i], mss, fields["window_limited"])
				for ; left < len(released)*i/len(list); left++ { // spread evenly over the ACKs
					send(released[left], mss, mss)
				}
			}
		case "lost":
			for _, n := range list {
				inFlight, sent[n].inFlight = inFlight-sent[n].bytes, false
			}
			if list[len(list)-1] >= episodeFrom {
				r.onCongestion(true)
				episodeFrom, inEpisode = next, true
			}
		case "ecn":
			if !inEpisode {
				r.onCongestion(false)
				episodeFrom, inEpisode = next, true
			}
		case "timeout":
			r.onTimeout(timedOut)
			for _, p := range sent {
				p.inFlight = false
			}
			inFlight, episodeFrom, inEpisode, timedOut = 0, next, false, true
		case "recovered":
			inEpisode = false
		case "spurious":
			inEpisode = false
			r.onSpurious()
		default:
			panic(fmt.Sprintf("%s: line %d: not understood by this runner: %s", file, index+1, words[1]))
		}
	}
	fmt.Printf("%s: %s\n", file, map[bool]string{true: "passed", false: "failed"}[passed])
	return passed
}

func main() {
	status := 0
	for _, file := range os.Args[1:] {
		if !run(file) {
			status = 1
		}
	}
	os.Exit(status)
}
