package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// Route leads every name and address to a server on this machine: what DNS, routing and Services do in a cluster.
type Route struct {
	// Where connections go at the moment.
	target func() string
	// Where exchanges are kept, if anywhere.
	wire *wire
	// The client certificate that the caller shows, if any.
	own, key []byte
}

func (r Route) config() *rest.Config {
	config := &rest.Config{UserAgent: "conformance"}
	config.TLSClientConfig.CertData, config.TLSClientConfig.KeyData = r.own, r.key
	config.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, r.target())
	}
	if r.wire != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &wired{next, r.wire} })
	}
	return config
}

// ClientConfigFor implements webhookutil.AuthenticationInfoResolver.
func (r Route) ClientConfigFor(string) (*rest.Config, error) { return r.config(), nil }

// ClientConfigForService implements webhookutil.AuthenticationInfoResolver.
func (r Route) ClientConfigForService(string, string, int) (*rest.Config, error) {
	return r.config(), nil
}

// ResolveEndpoint implements webhookutil.ServiceResolver.
func (r Route) ResolveEndpoint(string, string, int32) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: r.target()}, nil
}

// routeTo leads to one server.
func routeTo(server *Server) Route {
	return Route{target: func() string { return server.secure }}
}

// http2 is what is spoken where the API machinery offers HTTP/2, which it can be told not to do.
var http2 = func() string {
	if os.Getenv("DISABLE_HTTP2") != "" {
		return "HTTP/1.1"
	}
	return "HTTP/2.0"
}()

// Client calls one webhook as the API machinery does, and keeps what went over the wire.
type Client struct {
	rest *rest.RESTClient
	wire *wire
	// What it should speak.
	protocol string
}

// newClient is a client for what a webhook configuration says. A manager keeps its connections to itself, as in a process
// of its own.
func newClient(route Route, config webhookutil.ClientConfig) (*Client, error) {
	manager, err := webhookutil.NewClientManager(
		[]schema.GroupVersion{karmadaVersion, admissionv1.SchemeGroupVersion},
		installKarmada, admissionv1.AddToScheme,
	)
	if err != nil {
		return nil, err
	}
	route.wire = &wire{}
	manager.SetAuthenticationInfoResolver(route)
	manager.SetServiceResolver(route)
	client, err := manager.HookClient(config)
	if err != nil {
		return nil, err
	}
	protocol := "HTTP/1.1"
	if address, err := url.Parse(config.URL); err == nil && address.Hostname() == "localhost" {
		protocol = http2
	}
	return &Client{client, route.wire, protocol}, nil
}

// loopback is a client for `https://localhost` and a path: HTTP/2, if both sides want.
func (s *Site) loopback(server *Server, path string) (*Client, error) {
	return newClient(routeTo(server), webhookutil.ClientConfig{
		Name: "loopback", URL: "https://localhost:8443" + path, CABundle: s.certificates.authority,
	})
}

// service is a client for a Service and a path: HTTP/1.1 always.
func (s *Site) service(server *Server, path string) (*Client, error) {
	return newClient(routeTo(server), serviceConfig(s, path))
}

func serviceConfig(s *Site, path string) webhookutil.ClientConfig {
	return webhookutil.ClientConfig{
		Name: "service", CABundle: s.certificates.authority,
		Service: &webhookutil.ClientConfigService{Name: serviceName, Namespace: serviceNamespace, Path: path, Port: 443},
	}
}

// protocols are the two ways to reach a server.
func (s *Site) protocols(server *Server, path string) ([]*Client, error) {
	local, err := s.loopback(server, path)
	if err != nil {
		return nil, err
	}
	service, err := s.service(server, path)
	return []*Client{service, local}, err
}

// post sends an object, or bytes as they are, and decodes the reply.
func (c *Client) post(ctx context.Context, body any, into runtime.Object) error {
	request := c.rest.Post()
	// Bytes would go without a type.
	if _, ok := body.([]byte); ok {
		request.SetHeader("Content-Type", "application/json")
	}
	request.Body(body)
	// What is left of the time is told in whole seconds, rounded up.
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		request.Timeout((left + time.Second - 1).Truncate(time.Second))
	}
	return request.Do(ctx).Into(into)
}

// patient is a context with the time that a webhook has by default.
func patient() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 10*time.Second)
}

// wire keeps the last exchange.
type wire struct {
	mutex sync.Mutex
	// How many exchanges there were.
	count  int
	url    *url.URL
	sent   http.Header
	status int
	proto  string
	header http.Header
	body   []byte
	// Whether a reply asked for another try, which these clients then make by themselves.
	retry bool
}

// again is whether another try was asked for.
func (w *wire) again() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.retry
}

// wired is a transport that keeps what goes through it.
type wired struct {
	next http.RoundTripper
	wire *wire
}

// RoundTrip implements http.RoundTripper.
func (t *wired) RoundTrip(request *http.Request) (*http.Response, error) {
	w := t.wire
	response, err := t.next.RoundTrip(request)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			err = fmt.Errorf("the body of the reply: %w", err)
		}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.count++
	w.url, w.sent = request.URL, request.Header
	if err != nil {
		return nil, err
	}
	w.status, w.proto, w.header, w.body = response.StatusCode, response.Proto, response.Header, body
	w.retry = w.retry || response.Header.Get("Retry-After") != ""
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// WrappedRoundTripper lets the API machinery find the transport.
func (t *wired) WrappedRoundTripper() http.RoundTripper { return t.next }
