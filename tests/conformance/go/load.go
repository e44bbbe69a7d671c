package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
)

// callers is how many ask at the same time.
const callers = 32

// pair is two replicas behind one address: connections go to the first one until it says that it is not ready, and to the
// second one from then on. That is what a Service does.
type pair struct {
	servers [2]*Server
	current atomic.Int32
	// How many connections each got.
	dialled [2]atomic.Int32
}

func (p *pair) target() string {
	at := p.current.Load()
	p.dialled[at].Add(1)
	return p.servers[at].secure
}

// watch looks whether the first is ready, as a kubelet does, though more often.
func (p *pair) watch(ctx context.Context) {
	for ctx.Err() == nil {
		response, err := http.Get("http://" + p.servers[0].admin + "/readyz")
		if err != nil || response.StatusCode != http.StatusOK {
			p.current.Store(1)
			return
		}
		response.Body.Close()
		time.Sleep(50 * time.Millisecond)
	}
}

// loadCases ask many questions at once, and end a replica in the middle of it: nobody is to notice.
func (s *Site) loadCases(table *Table) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		table.try(fmt.Sprintf("load: %d questions over %s, and a SIGTERM in the middle, get their answers", s.requests, protocol),
			func() error { return s.load(protocol) })
	}
	table.try("load: a SIGTERM without a drain cuts off no reply", s.abrupt)
}

// load sends all questions over one protocol.
func (s *Site) load(protocol string) error {
	replicas := &pair{}
	for at := range replicas.servers {
		server, err := s.serveBare("--cert-dir", s.certificates.folder, "--drain-seconds", "2",
			"--state", s.file("samples/works/state"))
		if err != nil {
			return err
		}
		defer server.command.Process.Kill()
		replicas.servers[at] = server
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go replicas.watch(ctx)
	asked, err := s.questions(Route{target: replicas.target}, protocol)
	if err != nil {
		return err
	}
	var answered atomic.Int32
	half := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		<-half
		ended <- replicas.servers[0].end()
	}()
	err = together(s.requests, func(number int) error {
		err := asked[number%len(asked)]()
		if answered.Add(1) == int32(s.requests/2) {
			close(half)
		}
		return err
	})
	if err != nil {
		return err
	}
	// The load may be over before the drain is.
	for replicas.current.Load() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	for _, question := range asked {
		if err := question(); err != nil {
			return fmt.Errorf("after the load: %w", err)
		}
	}
	if replicas.dialled[0].Load() == 0 || replicas.dialled[1].Load() == 0 {
		return fmt.Errorf("one of the replicas was not asked")
	}
	return first(<-ended, replicas.servers[1].end())
}

// together runs something so often, a number of them at once, and gives the first errors.
func together(times int, run func(number int) error) error {
	var next atomic.Int32
	var group sync.WaitGroup
	failures := make(chan error, times)
	for range callers {
		group.Go(func() {
			for number := int(next.Add(1)) - 1; number < times; number = int(next.Add(1)) - 1 {
				if err := recovered(func() error { return run(number) }); err != nil {
					failures <- fmt.Errorf("question %d: %w", number, err)
				}
			}
		})
	}
	group.Wait()
	close(failures)
	if count := len(failures); count > 0 {
		return fmt.Errorf("%d failed, first: %w", count, <-failures)
	}
	return nil
}

// questions are what is asked in turns, each with what it should get.
func (s *Site) questions(route Route, protocol string) ([]func() error, error) {
	client := func(path string) (*Client, error) {
		config := serviceConfig(s, path)
		if protocol == "HTTP/2.0" {
			config = webhookutil.ClientConfig{URL: "https://localhost:8443" + path, CABundle: s.certificates.authority}
		}
		return newClient(route, config)
	}
	interpreter, err := client("/interpret")
	if err != nil {
		return nil, err
	}
	works, err := client("/mutate/works")
	if err != nil {
		return nil, err
	}
	questions := []func() error{}
	for name, right := range map[string]func(*Answer) error{
		"01-interpret-replica": func(answer *Answer) error { return expect("replicas", *answer.Replicas, 4) },
		"02-revise-replica": func(answer *Answer) error {
			return expect("patch", string(answer.Patch), `[{"op":"replace","path":"/spec/replicas","value":1}]`)
		},
		"03-revise-object-fort": func(answer *Answer) error { return expect("patch", string(answer.Patch), "[]") },
		"04-revise-object-elsewhere": func(answer *Answer) error {
			return expect("nulls", bytes.Count(answer.Patch, []byte(`"value":null`)), 2)
		},
		"10-revise-object-no-schedule": nil,
	} {
		body := s.sampleBody(name)
		questions = append(questions, func() error {
			answer, err := interpreter.interpret(question(body))
			if right == nil {
				return refusedWith(err, 503, "ClusterRevisionPolicy/rollout-fort rule")
			}
			if err != nil {
				return err
			}
			return right(answer)
		})
	}
	for _, name := range []string{"01-create-fort", "02-create-elsewhere"} {
		body := must(os.ReadFile(s.file("samples/works", name+".json")))
		old := []byte(review(body).Request.UID)
		questions = append(questions, func() error {
			response, err := works.review(bytes.Replace(body, old, []byte(uuid.NewUUID()), 1))
			if err != nil {
				return err
			}
			_, err = patchedByHand(response.Patch, review(body).Request.Object.Raw)
			return first(err, expect("allowed", response.Allowed, true))
		})
	}
	return questions, nil
}

// abrupt ends the only server there is under load, without the time of a drain. Some come too late; no reply is cut off.
func (s *Site) abrupt() error {
	server, err := s.serve()
	if err != nil {
		return err
	}
	defer server.command.Process.Kill()
	client, err := s.service(server, "/interpret")
	if err != nil {
		return err
	}
	var answered, unheard atomic.Int32
	lost := together(s.requests, func(int) error {
		heard, err := client.heard(s.sample("02-revise-replica"))
		if err != nil && !heard {
			unheard.Add(1)
			return nil
		}
		if err == nil && answered.Add(1) == 200 {
			return server.command.Process.Signal(syscall.SIGTERM)
		}
		return err
	})
	if err := first(lost, server.ended()); err != nil {
		return err
	}
	if answered.Load() < 200 || unheard.Load() == 0 {
		return fmt.Errorf("%d were answered and %d not heard", answered.Load(), unheard.Load())
	}
	return nil
}

// heard asks, and tells whether there was anything of a reply. A caller can't know more: without a drain, a kept connection
// may be closed while the next question is on its way, and nobody ever reads that.
func (c *Client) heard(context *ResourceInterpreterContext) (bool, error) {
	var begun atomic.Bool
	ctx, cancel := patient()
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotFirstResponseByte: func() { begun.Store(true) },
	})
	context.Request.UID = uuid.NewUUID()
	reply := &ResourceInterpreterContext{}
	err := c.post(ctx, context, reply)
	if err == nil {
		_, err = judged(reply.Response, context.Request.UID, context.Request.Operation)
	}
	return begun.Load(), err
}
