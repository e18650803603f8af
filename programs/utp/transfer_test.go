package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anacrolix/go-libutp"
)

func freePort(t *testing.T) uint16 {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	return uint16(socket.LocalAddr().(*net.UDPAddr).Port)
}

type result struct {
	bytes int64
	err   error
}

// startReceiver returns when the receiver listens.
func startReceiver(t *testing.T, ctx context.Context, port uint16) <-chan result {
	t.Helper()
	done := make(chan result, 1)
	go func() {
		bytes, err := receive(ctx, port)
		done <- result{bytes, err}
	}()
	for range 1000 {
		sockets, err := os.ReadFile("/proc/net/udp")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(sockets), fmt.Sprintf(":%04X ", port)) {
			return done
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the receiver does not listen")
	return nil
}

func finish(t *testing.T, done <-chan result) result {
	t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(20 * time.Second):
		t.Fatal("the receiver does not end")
		return result{}
	}
}

func sendTo(port uint16, duration string) (sendCommand, error) {
	command, err := parse([]string{"send", "127.0.0.1", itoa(port), duration, "--target-ms", "25"})
	if err != nil {
		return sendCommand{}, err
	}
	return command.(sendCommand), nil
}

func TestEveryByteWrittenArrives(t *testing.T) {
	port := freePort(t)
	done := startReceiver(t, t.Context(), port)
	command, err := sendTo(port, "1")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	written, err := send(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < time.Second || took > 10*time.Second {
		t.Errorf("took %v instead of 1 s and the drain", took)
	}
	received := finish(t, done)
	if received.err != nil {
		t.Error(received.err)
	}
	if written < 100_000 || received.bytes != written {
		t.Errorf("%d bytes written, %d received", written, received.bytes)
	}
}

func TestBothSidesEndWhenToldTo(t *testing.T) {
	port := freePort(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := startReceiver(t, ctx, port)
	command, err := sendTo(port, "60")
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan result, 1)
	go func() {
		bytes, err := send(ctx, command)
		sent <- result{bytes, err}
	}()
	time.Sleep(500 * time.Millisecond)
	stop()
	for _, side := range []<-chan result{done, sent} {
		if r := finish(t, side); r.err != nil || r.bytes == 0 {
			t.Errorf("%d bytes, error %v", r.bytes, r.err)
		}
	}
}

func TestAReceiverNobodyCalledEndsWhenToldTo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	done := startReceiver(t, ctx, freePort(t))
	time.Sleep(100 * time.Millisecond)
	stop()
	if r := finish(t, done); r.bytes != 0 || (r.err != nil && r.err != context.Canceled) {
		t.Errorf("%d bytes, error %v", r.bytes, r.err)
	}
}

func TestAPeerThatIsNotThereIsOneLine(t *testing.T) {
	port := freePort(t)
	command, err := sendTo(port, "1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, err := send(ctx, command); err != context.Canceled {
		t.Errorf("stopped while it connects: %v", err)
	}
	socket, err := utp.NewSocket("udp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	peer := "127.0.0.1:" + itoa(port)
	_, err = dial(t.Context(), socket, peer, 500*time.Millisecond)
	if err == nil || err.Error() != "no answer from "+peer+" within 500ms" {
		t.Error(err)
	}
}
