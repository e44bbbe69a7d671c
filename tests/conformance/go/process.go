package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is longer than anything takes, unless it never happens.
const patience = 30 * time.Second

// The names and addresses that the servers' certificate is for. All of them lead to the loopback address here: the
// addresses are of the blocks for documentation.
const (
	serviceName      = "reviser"
	serviceNamespace = "reviser-system"
	dnsName          = "reviser.example.com"
	ipv4             = "192.0.2.7"
	ipv6             = "2001:db8::7"
)

// Certificates is a folder that `reviser certs` made.
type Certificates struct {
	folder    string
	authority []byte
}

// issue makes an authority and a certificate of it.
func (s *Site) issue(name string) (Certificates, error) {
	folder := filepath.Join(s.scratch, name)
	service := serviceName + "." + serviceNamespace + ".svc"
	_, err := s.output(nil, "certs", "--out", folder, "--dns", "localhost", "--dns", service, "--dns", dnsName,
		"--ip", "127.0.0.1", "--ip", ipv4, "--ip", ipv6)
	if err != nil {
		return Certificates{}, err
	}
	authority, err := os.ReadFile(filepath.Join(folder, "ca.crt"))
	return Certificates{folder, authority}, err
}

// command is the program with these arguments, and without anything in its environment.
func (s *Site) command(arguments ...string) *exec.Cmd {
	command := exec.Command(s.reviser, arguments...)
	command.Env = []string{}
	command.Dir = s.repository
	return command
}

// output runs the program to its end, and gives what it printed.
func (s *Site) output(input []byte, arguments ...string) ([]byte, error) {
	command := s.command(arguments...)
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("reviser %s: %w: %s", strings.Join(arguments, " "), err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// Server is a running `reviser serve`.
type Server struct {
	command *exec.Cmd
	secure  string
	admin   string
	done    chan error
	log     *log
}

// log is what a server said.
type log struct {
	sync.Mutex
	lines []string
}

func (l *log) String() string {
	l.Lock()
	defer l.Unlock()
	return strings.Join(l.lines, "\n")
}

// serve starts a server with these arguments and the certificate of the site, and waits until it serves.
func (s *Site) serve(arguments ...string) (*Server, error) {
	return s.serveBare(append([]string{"--cert-dir", s.certificates.folder, "--drain-seconds", "0"}, arguments...)...)
}

// serveBare starts a server with no arguments but these and those for its ports and its log.
func (s *Site) serveBare(arguments ...string) (*Server, error) {
	command := s.command(append([]string{"serve", "--bind-address", "127.0.0.1", "--secure-port", "0",
		"--admin-bind-address", "127.0.0.1:0", "--log-format", "json"}, arguments...)...)
	pipe, err := command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	server := &Server{command: command, done: make(chan error, 1), log: &log{}}
	serving := make(chan struct{ secure, admin string }, 1)
	go func() {
		reader := bufio.NewReaderSize(pipe, 1<<20)
		for {
			line, err := reader.ReadString('\n')
			server.log.Lock()
			server.log.lines = append(server.log.lines, strings.TrimSpace(line))
			server.log.Unlock()
			var addresses struct {
				Secure string `json:"secure_address"`
				Admin  string `json:"admin_address"`
			}
			if json.Unmarshal([]byte(line), &addresses) == nil && addresses.Secure != "" {
				serving <- struct{ secure, admin string }{addresses.Secure, addresses.Admin}
			}
			if err != nil {
				if err != io.EOF {
					server.log.lines = append(server.log.lines, err.Error())
				}
				server.done <- command.Wait()
				return
			}
		}
	}()
	select {
	case addresses := <-serving:
		server.secure, server.admin = addresses.secure, addresses.admin
		return server, nil
	case err := <-server.done:
		return nil, fmt.Errorf("the server ended (%v): %s", err, server.log)
	case <-time.After(patience):
		command.Process.Kill()
		return nil, fmt.Errorf("the server never served: %s", server.log)
	}
}

// end drains the server, and is an error unless its exit code is 0.
func (s *Server) end() error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("the server was gone: %w: %s", err, s.log)
	}
	return s.ended()
}

// ended waits for the end.
func (s *Server) ended() error {
	select {
	case err := <-s.done:
		if err != nil {
			return fmt.Errorf("the server ended with %w: %s", err, s.log)
		}
		return nil
	case <-time.After(patience):
		s.command.Process.Kill()
		return fmt.Errorf("the server never ended: %s", s.log)
	}
}

// with runs something with a server, and ends it cleanly.
func (s *Site) with(arguments []string, run func(*Server) error) error {
	server, err := s.serve(arguments...)
	if err != nil {
		return err
	}
	ran := recovered(func() error { return run(server) })
	return first(ran, server.end())
}
