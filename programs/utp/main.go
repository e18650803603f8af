// dumbbell-utp sends bulk data over uTP with libutp, the implementation that BitTorrent clients use.
//
// Exit status: 0 after a complete transfer or SIGTERM, 1 for a failed connection, 2 for wrong arguments.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	command, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "dumbbell-utp:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, command); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "dumbbell-utp:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command any) error {
	switch command := command.(type) {
	case receiveCommand:
		bytes, err := receive(ctx, command.port)
		fmt.Printf("{\"received_bytes\": %d}\n", bytes)
		return err
	case sendCommand:
		bytes, err := send(ctx, command)
		fmt.Printf("{\"written_bytes\": %d}\n", bytes)
		return err
	default:
		fmt.Print(help)
		return nil
	}
}
