package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	webhookutil "k8s.io/apiserver/pkg/util/webhook"
)

// connectionCases are about what is below a question: names and authorities, protocols, connections, and the URL.
func (s *Site) connectionCases(table *Table) {
	s.served(table, "connections", nil, func(server *Server) {
		s.nameCases(table, server)
		s.urlCases(table, server)
		s.reuseCases(table, server)
		s.plainCases(table, server)
	})
	s.ownCertificateCases(table)
	table.try("connections: a certificate that nobody can know is refused", func() error {
		server, err := s.serveBare("--drain-seconds", "0")
		if err != nil {
			return err
		}
		_, err = must(s.loopback(server, "/interpret")).interpret(s.sample("02-revise-replica"))
		return first(fails(err, "certificate signed by unknown authority"), server.end())
	})
}

// fails is an error unless there is one that says this.
func fails(err error, says string) error {
	if err == nil || !strings.Contains(err.Error(), says) {
		return fmt.Errorf("%v instead of %q", err, says)
	}
	return nil
}

// nameCases: whom the caller takes the server for.
func (s *Site) nameCases(table *Table, server *Server) {
	other := must(s.issue("other"))
	at := func(url string) webhookutil.ClientConfig {
		return webhookutil.ClientConfig{URL: url, CABundle: s.certificates.authority}
	}
	service := func(name string) webhookutil.ClientConfig {
		config := serviceConfig(s, "/interpret")
		config.Service.Name = name
		return config
	}
	for _, right := range []struct {
		name, protocol string
		config         webhookutil.ClientConfig
	}{
		{"a Service", "HTTP/1.1", service(serviceName)},
		{"a DNS name", "HTTP/1.1", at("https://" + dnsName + ":8443/interpret")},
		{"a DNS name without a port", "HTTP/1.1", at("https://" + dnsName + "/interpret")},
		{"an IPv4 address", "HTTP/1.1", at("https://" + ipv4 + ":8443/interpret")},
		{"an IPv6 address", "HTTP/1.1", at("https://[" + ipv6 + "]:8443/interpret")},
		{"localhost", http2, at("https://localhost:8443/interpret")},
		{"127.0.0.1", http2, at("https://127.0.0.1:8443/interpret")},
		{"two authorities", "HTTP/1.1", webhookutil.ClientConfig{URL: "https://" + dnsName + "/interpret",
			CABundle: slices.Concat(other.authority, s.certificates.authority)}},
	} {
		table.try("connections: "+right.name, func() error {
			client, err := newClient(routeTo(server), right.config)
			if err != nil {
				return err
			}
			return first(s.serves(client), expect("protocol", client.wire.proto, right.protocol))
		})
	}
	without := at("https://" + dnsName + "/interpret")
	without.CABundle = nil
	wrong := at("https://" + dnsName + "/interpret")
	wrong.CABundle = other.authority
	for _, refused := range []struct {
		name, says string
		config     webhookutil.ClientConfig
	}{
		{"another DNS name", "not elsewhere.example.com", at("https://elsewhere.example.com/interpret")},
		{"another IPv4 address", "not 192.0.2.8", at("https://192.0.2.8:8443/interpret")},
		{"another Service", "not other.reviser-system.svc", service("other")},
		{"another authority", "certificate signed by unknown authority", wrong},
		{"the system's authorities", "certificate signed by unknown authority", without},
	} {
		table.try("connections: "+refused.name+" is refused", func() error {
			client, err := newClient(routeTo(server), refused.config)
			if err != nil {
				return err
			}
			_, err = client.interpret(s.sample("02-revise-replica"))
			return first(fails(err, refused.says), s.serves(must(s.service(server, "/interpret"))))
		})
	}
}

// urlCases: what arrives of a URL, and what comes on top. That the server answers is what matters; that the callers are as
// we believe is held here, too.
func (s *Site) urlCases(table *Table, server *Server) {
	asked := func(path string, left time.Duration) (*wire, error) {
		client, err := s.loopback(server, path)
		if err != nil {
			return nil, err
		}
		context := s.sample("02-revise-replica")
		ctx, cancel := contextWith(left)
		defer cancel()
		reply := &ResourceInterpreterContext{}
		if err := client.post(ctx, context, reply); err != nil {
			return nil, err
		}
		_, err = judged(reply.Response, context.Request.UID, "ReviseReplica")
		return client.wire, err
	}
	for _, path := range []string{"/interpret", "/interpret/", "/interpret?timeout=1ns&more", "/interpret/?x=y"} {
		table.try("connections: the URL path "+path, func() error {
			wire, err := asked(path, 10*time.Second)
			if err != nil {
				return err
			}
			return first(
				expect("path", wire.url.Path, "/interpret"), expect("query", wire.url.RawQuery, "timeout=10s"),
				expect("type", wire.sent.Get("Content-Type"), "application/json"),
				expect("accepted", wire.sent.Get("Accept"), "application/json, */*"),
				expect("type of the reply", wire.header.Get("Content-Type"), "application/json"),
			)
		})
	}
	table.try("connections: less than a second that is left is told as one", func() error {
		wire, err := asked("/interpret", 900*time.Millisecond)
		if err != nil {
			return err
		}
		return expect("query", wire.url.RawQuery, "timeout=1s")
	})
	table.try("connections: a caller without a deadline", func() error {
		wire, err := asked("/interpret", 0)
		if err != nil {
			return err
		}
		return expect("query", wire.url.RawQuery, "")
	})
}

// contextWith is a context that so much time is left of; 0 is any time.
func contextWith(left time.Duration) (context.Context, context.CancelFunc) {
	if left == 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), left)
}

// reuseCases: connections are kept, and many questions share them.
func (s *Site) reuseCases(table *Table, server *Server) {
	for _, config := range []webhookutil.ClientConfig{
		serviceConfig(s, "/interpret"),
		{URL: "https://localhost/interpret", CABundle: s.certificates.authority},
	} {
		var dialled atomic.Int32
		route := Route{target: func() string {
			dialled.Add(1)
			return server.secure
		}}
		client := must(newClient(route, config))
		// A Service is resolved before it is dialled, which asks for the target twice.
		most := int32(1)
		if config.Service != nil {
			most = 2
		}
		table.try("connections: 100 questions, one by one, need one connection over "+client.protocol, func() error {
			for range 100 {
				if err := s.serves(client); err != nil {
					return err
				}
			}
			return expect("connections", dialled.Load(), most)
		})
	}
}

// plainCases are plain HTTP clients: what TLS and what content coding they offer.
func (s *Site) plainCases(table *Table, server *Server) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.certificates.authority)
	body := s.sampleBody("02-revise-replica")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, offered := range [][]string{nil, {"http/1.1"}, {"h2"}, {"h2", "http/1.1"}} {
			table.try(fmt.Sprintf("connections: %s, offering %q", tls.VersionName(version), offered), func() error {
				config := &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: version, MaxVersion: version,
					NextProtos: offered}
				transport := &http.Transport{TLSClientConfig: config, Protocols: &http.Protocols{}}
				transport.Protocols.SetHTTP1(!slices.Contains(offered, "h2"))
				transport.Protocols.SetHTTP2(slices.Contains(offered, "h2"))
				defer transport.CloseIdleConnections()
				// As it stands: the transport does not decode what it was not alone to ask for.
				request := must(http.NewRequest("POST", "https://"+server.secure+"/interpret", bytes.NewReader(body)))
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Accept-Encoding", "gzip")
				response, err := transport.RoundTrip(request)
				if err != nil {
					return err
				}
				agreed, major := "", 1
				if len(offered) > 0 {
					agreed = offered[0]
				}
				if agreed == "h2" {
					major = 2
				}
				return first(expect("ALPN", response.TLS.NegotiatedProtocol, agreed),
					expect("HTTP", response.ProtoMajor, major), decodes(response))
			})
		}
	}
	table.try("connections: plain HTTP is told to use HTTPS", func() error {
		response, err := http.Post("http://"+server.secure+"/interpret", "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		return first(expect("status", response.StatusCode, 400), fails(fmt.Errorf("%s", text), "this is an HTTPS port"))
	})
	table.try("connections: who connects and says nothing keeps nobody waiting", func() error {
		for range 20 {
			connection, err := net.Dial("tcp", server.secure)
			if err != nil {
				return err
			}
			defer connection.Close()
		}
		return s.serves(must(s.service(server, "/interpret")))
	})
}

// decodes fails unless a reply is JSON after its content coding, if it has one.
func decodes(response *http.Response) error {
	defer response.Body.Close()
	var body io.Reader = response.Body
	switch coding := response.Header.Get("Content-Encoding"); coding {
	case "":
	case "gzip":
		reader, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = reader
	default:
		return fmt.Errorf("the content coding %q", coding)
	}
	reply := &ResourceInterpreterContext{}
	if err := json.NewDecoder(body).Decode(reply); err != nil {
		return err
	}
	return first(expect("status", response.StatusCode, 200), expect("successful", reply.Response.Successful, true))
}

// refused fails if there is no error. Which one it is depends on who is faster: the reason comes after the handshake, when
// the question may be on its way already.
func refused(err error) error {
	if err == nil {
		return fmt.Errorf("it was not refused")
	}
	return nil
}

// ownCertificateCases: a server that wants to know its callers. An API server shows a certificate if its own
// configuration of admission says so; Karmada's interpreter never does.
func (s *Site) ownCertificateCases(table *Table) {
	authority := filepath.Join(s.scratch, "callers.crt")
	own, key := must2(caller(authority))
	s.served(table, "connections: with --client-ca-file", []string{"--client-ca-file", authority}, func(server *Server) {
		table.try("connections: with --client-ca-file, a caller with a certificate", func() error {
			route := routeTo(server)
			route.own, route.key = own, key
			return s.serves(must(newClient(route, serviceConfig(s, "/interpret"))))
		})
		table.try("connections: with --client-ca-file, a caller without one is refused", func() error {
			_, err := must(s.service(server, "/interpret")).interpret(s.sample("02-revise-replica"))
			return refused(err)
		})
		table.try("connections: with --client-ca-file, a caller of another authority is refused", func() error {
			route := routeTo(server)
			route.own, route.key = must2(caller(filepath.Join(s.scratch, "strangers.crt")))
			_, err := must(newClient(route, serviceConfig(s, "/interpret"))).interpret(s.sample("02-revise-replica"))
			return refused(err)
		})
	})
}
