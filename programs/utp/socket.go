package main

import (
	"net"
	"syscall"

	"github.com/anacrolix/go-libutp"
)

// Asked of the kernel, bytes: a burst must neither be lost nor wait in the host.
const socketBuffer = 4 << 20

// newSocket opens a uTP socket at a local IPv4 address.
func newSocket(address string) (*utp.Socket, error) {
	connection, err := net.ListenPacket("udp4", address)
	if err != nil {
		return nil, err
	}
	if raw, err := connection.(*net.UDPConn).SyscallConn(); err == nil {
		// Best effort: only with a privilege beyond the system's limit.
		_ = raw.Control(func(fd uintptr) {
			for force, plain := range map[int]int{
				syscall.SO_RCVBUFFORCE: syscall.SO_RCVBUF,
				syscall.SO_SNDBUFFORCE: syscall.SO_SNDBUF,
			} {
				if syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, force, socketBuffer) != nil {
					_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, plain, socketBuffer)
				}
			}
		})
	}
	return utp.NewSocketFromPacketConn(connection)
}
