package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// refusalCases are what can be wrong with a question, and how this caller reads what it gets for that.
func (s *Site) refusalCases(table *Table) {
	s.served(table, "refusals", nil, func(server *Server) {
		for _, client := range must(s.protocols(server, "/interpret")) {
			s.operationCases(table, client)
			s.bodyCases(table, client)
			s.sizeCases(table, client)
			s.headerCases(table, client)
		}
		s.pathCases(table, server)
	})
}

// sample is a question to be made wrong.
func (s *Site) sample(name string) *ResourceInterpreterContext {
	return question(s.sampleBody(name))
}

func (s *Site) sampleBody(name string) []byte {
	return must(os.ReadFile(s.file("samples", name+".json")))
}

// operationCases: an operation that is not answered is a refusal that says so, and so is one that nobody knows.
func (s *Site) operationCases(table *Table, client *Client) {
	for _, operation := range []string{"InterpretComponent", "Retain", "AggregateStatus", "InterpretStatus", "InterpretHealth",
		"InterpretDependency", "Prune", "ReviseEverything"} {
		says := notAnswered
		if operation == "ReviseEverything" {
			says = "does not exist"
		}
		table.try(fmt.Sprintf("refusals: the operation %s over %s", operation, client.protocol), func() error {
			asked := s.sample("02-revise-replica")
			asked.Request.Operation = operation
			_, err := client.interpret(asked)
			return refusedWith(err, 400, fmt.Sprintf("request.operation: %q %s", operation, says))
		})
	}
	for name, wrong := range map[string]struct {
		make   func(*Question)
		code   int32
		begins string
	}{
		"no cluster":       {func(asked *Question) { asked.ClusterName = "" }, 400, "request.clusterName: is missing"},
		"no schedule":      {func(asked *Question) { asked.TargetClusters = nil }, 503, "ClusterRevisionPolicy/rollout-fort rule"},
		"a cluster twice":  {func(asked *Question) { asked.TargetClusters[0] = asked.TargetClusters[1] }, 400, "request.targetClusters: "},
		"negative weights": {func(asked *Question) { asked.TargetClusters[0].Replicas = -1 }, 400, "request.targetClusters[0].replicas: "},
	} {
		table.try(fmt.Sprintf("refusals: %s over %s", name, client.protocol), func() error {
			asked := s.sample("04-revise-object-elsewhere")
			wrong.make(asked.Request)
			_, err := client.interpret(asked)
			return refusedWith(err, wrong.code, wrong.begins)
		})
	}
}

// status is the `metav1.Status` that a caller gets instead of a reply, or fails.
func status(err error, code int32, reason metav1.StatusReason, begins string) error {
	var failed *apierrors.StatusError
	if !errors.As(err, &failed) {
		return fmt.Errorf("%v instead of a Status", err)
	}
	found := failed.ErrStatus
	if !strings.HasPrefix(found.Message, begins) {
		return fmt.Errorf("the message %q does not begin with %q", found.Message, begins)
	}
	return first(expect("code", found.Code, code), expect("reason", found.Reason, reason), expect("status", found.Status, "Failure"))
}

// bodyCases: where there is nobody to answer to, it is told over HTTP, and the caller shows our message.
func (s *Site) bodyCases(table *Table, client *Client) {
	good := s.sampleBody("04-revise-object-elsewhere")
	for _, wrong := range []struct {
		name, begins string
		body         []byte
	}{
		{"no body", "the body is no ResourceInterpreterContext: not JSON", []byte{}},
		{"half a body", "the body is no ResourceInterpreterContext: not JSON", good[:len(good)/2]},
		{"two bodies", "the body is no ResourceInterpreterContext: not JSON", append(bytes.Clone(good), good...)},
		{"a list", "the body is no ResourceInterpreterContext: it has no `request`", []byte("[]")},
		{"no uid", "`request.uid` must be there once", bytes.Replace(good, []byte(`"uid"`), []byte(`"id"`), 1)},
	} {
		table.try(fmt.Sprintf("refusals: %s over %s", wrong.name, client.protocol), func() error {
			_, err := client.interpretBody(wrong.body, "", "ReviseObject")
			return first(status(err, 400, metav1.StatusReasonBadRequest, wrong.begins), s.serves(client))
		})
	}
}

// serves fails unless a good question is answered over the same connections.
func (s *Site) serves(client *Client) error {
	answer, err := client.interpret(s.sample("02-revise-replica"))
	if err != nil {
		return fmt.Errorf("the next good question: %w", err)
	}
	return expect("the next good question", string(answer.Patch), `[{"op":"replace","path":"/spec/replicas","value":1}]`)
}

// sizeCases: the longest body is 8 MiB.
func (s *Site) sizeCases(table *Table, client *Client) {
	padded := func(length int) []byte {
		body := s.sampleBody("02-revise-replica")
		return append(body, bytes.Repeat([]byte(" "), length-len(body))...)
	}
	const most = 8 << 20
	table.try("refusals: a body of 8 MiB is none, over "+client.protocol, func() error {
		body := padded(most)
		answer, err := client.interpretBody(body, question(body).Request.UID, "ReviseReplica")
		if err != nil {
			return err
		}
		return expect("patch", string(answer.Patch), `[{"op":"replace","path":"/spec/replicas","value":1}]`)
	})
	for _, over := range []int{1, 8 << 20} {
		table.try(fmt.Sprintf("refusals: a body of 8 MiB and %d bytes over %s", over, client.protocol), func() error {
			_, err := client.interpretBody(padded(most+over), "", "ReviseReplica")
			says := status(err, 413, metav1.StatusReasonRequestEntityTooLarge, "the body is longer than 8388608 bytes")
			return first(says, s.serves(client))
		})
	}
	table.try("refusals: an object of 3 MiB is none, over "+client.protocol, func() error {
		asked := s.sample("04-revise-object-elsewhere")
		large := asked.Request.Object.Object.(*unstructured.Unstructured)
		large.SetAnnotations(map[string]string{"large": strings.Repeat("x", 3<<20)})
		answer, err := client.interpret(asked)
		if err != nil {
			return err
		}
		after, err := applied(large, answer.Patch)
		if err != nil {
			return err
		}
		shown, err := s.preview(asked.Request)
		return first(err, same("after the patch, unlike in a preview", after, shown))
	})
}

// headerCases: what the caller says about its body and about what it takes.
func (s *Site) headerCases(table *Table, client *Client) {
	ask := func(change func(*rest.Request)) (*ResourceInterpreterContext, error) {
		ctx, cancel := patient()
		defer cancel()
		request := client.rest.Post().Body(s.sampleBody("02-revise-replica")).SetHeader("Content-Type", "application/json")
		change(request)
		reply := &ResourceInterpreterContext{}
		return reply, request.Do(ctx).Into(reply)
	}
	uid := s.sample("02-revise-replica").Request.UID
	for _, kind := range []string{"application/yaml", "application/vnd.kubernetes.protobuf", "text/plain"} {
		table.try(fmt.Sprintf("refusals: the type %s over %s", kind, client.protocol), func() error {
			_, err := ask(func(request *rest.Request) { request.SetHeader("Content-Type", kind) })
			return status(err, 415, metav1.StatusReasonUnsupportedMediaType, "the body has to be JSON")
		})
	}
	for _, kind := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		table.try(fmt.Sprintf("refusals: the type %s is none, over %s", kind, client.protocol), func() error {
			reply, err := ask(func(request *rest.Request) { request.SetHeader("Content-Type", kind) })
			if err != nil {
				return err
			}
			_, err = judged(reply.Response, uid, "ReviseReplica")
			return err
		})
	}
	table.try("refusals: a time that has passed, over "+client.protocol, func() error {
		reply, err := ask(func(request *rest.Request) { request.Param("timeout", "1ns") })
		if err != nil {
			return err
		}
		_, err = judged(reply.Response, uid, "ReviseReplica")
		return refusedWith(err, 504, "Rollout/checkout: the deadline of the request has passed")
	})
	table.try("refusals: another method, over "+client.protocol, func() error {
		ctx, cancel := patient()
		defer cancel()
		err := client.rest.Get().Do(ctx).Error()
		return status(err, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "GET is not possible here")
	})
}

// pathCases: what is wrong in the URL of a webhook configuration.
func (s *Site) pathCases(table *Table, server *Server) {
	for _, path := range []string{"", "/interpre", "/interpret/more"} {
		table.try(fmt.Sprintf("refusals: the path %q", path), func() error {
			_, err := must(s.service(server, path)).interpret(s.sample("02-revise-replica"))
			return status(err, 404, metav1.StatusReasonNotFound, "there is nothing at")
		})
	}
	table.try("refusals: a question at the door for Works", func() error {
		_, err := must(s.service(server, "/mutate/works")).interpret(s.sample("02-revise-replica"))
		return status(err, 400, metav1.StatusReasonBadRequest, "kind: must be \"AdmissionReview\"")
	})
}
