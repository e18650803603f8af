package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/anacrolix/go-libutp"
)

const (
	// libutp repeats an unanswered first packet after 3 s and 9 s.
	connectTimeout = 15 * time.Second
	// How long the last bytes may take after the duration: a full queue on a slow link.
	drainTimeout = 30 * time.Second
	// How long a receiver stays after the end, and a sender that was told to stop: libutp repeats a lost packet after 1 s.
	lingerTimeout = 1500 * time.Millisecond
	chunkBytes    = 64 << 10
)

// receive takes one connection and discards its data until the sender closes or ctx ends. It returns the bytes that arrived.
func receive(ctx context.Context, port uint16) (int64, error) {
	socket, err := newSocket(fmt.Sprintf(":%d", port))
	if err != nil {
		return 0, fmt.Errorf("cannot listen on port %d: %w", port, err)
	}
	defer socket.Close()
	// The binding has no deadline for Accept: closing the socket ends it.
	unused := context.AfterFunc(ctx, func() { socket.Close() })
	connection, err := socket.Accept()
	if err != nil || !unused() {
		return 0, ctx.Err()
	}
	defer context.AfterFunc(ctx, func() { connection.SetReadDeadline(time.Now()) })()

	var received int64
	for chunk := make([]byte, chunkBytes); err == nil; {
		var n int
		n, err = connection.Read(chunk)
		received += int64(n)
	}
	connection.Close()
	// libutp still has to acknowledge the sender's last packet, and to do it again if that is lost.
	time.Sleep(lingerTimeout)
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return received, nil
	}
	return received, fmt.Errorf("the connection failed: %w", err)
}

// send connects, writes as fast as the connection takes it for the duration, and waits until all has arrived. It returns the
// bytes written.
func send(ctx context.Context, command sendCommand) (int64, error) {
	seedRandom(command.seed)
	socket, err := newSocket(":0")
	if err != nil {
		return 0, fmt.Errorf("cannot open a socket: %w", err)
	}
	defer socket.Close()
	if command.target > 0 {
		socket.SetOption(utp.TargetDelay, int(command.target.Microseconds()))
	}
	connection, err := dial(ctx, socket, command.peer.String(), connectTimeout)
	if err != nil {
		return 0, err
	}
	end := time.Now().Add(command.duration)
	connection.SetWriteDeadline(end)
	defer context.AfterFunc(ctx, func() { connection.SetWriteDeadline(time.Now()) })()

	var written int64
	for chunk := make([]byte, chunkBytes); err == nil; {
		var n int
		n, err = connection.Write(chunk)
		written += int64(n)
	}
	stopped := ctx.Err() != nil
	if !stopped && time.Now().Before(end) {
		return written, fmt.Errorf("the receiver at %v is gone: %w", command.peer, err)
	}
	limit := drainTimeout
	if stopped {
		limit = lingerTimeout
	}
	if err := closeAndWait(connection, limit); err != nil && !stopped {
		return written, fmt.Errorf("not everything arrived at %v: %w", command.peer, err)
	}
	return written, nil
}

func dial(ctx context.Context, socket *utp.Socket, peer string, limit time.Duration) (net.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	connection, err := socket.DialContext(limited, "", peer)
	switch {
	case err == nil:
		return connection, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("no answer from %s within %v", peer, limit)
	default:
		return nil, fmt.Errorf("cannot connect to %s: %w", peer, err)
	}
}

// closeAndWait closes the connection and waits until libutp has forgotten it, which it does when the other side has
// acknowledged everything.
func closeAndWait(connection net.Conn, limit time.Duration) error {
	connection.Close()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		// ErrConnClosed: closed by us, and libutp still knows it. The end of file: the receiver has closed, having read all.
		_, err := connection.Read(make([]byte, chunkBytes))
		switch {
		case err == nil || errors.Is(err, utp.ErrConnClosed):
			continue
		case errors.Is(err, io.EOF) || err.Error() == "destroyed":
			return nil
		default:
			return err
		}
	}
	return fmt.Errorf("no acknowledgement within %v", limit)
}
