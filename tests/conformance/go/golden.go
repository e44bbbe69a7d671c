package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// goldenCases send every request of the golden cases, twice: the bytes as they stand, which get what their file says; and
// decoded and encoded as Karmada does it, for an object of a name of its own, which gets what a preview shows.
func (s *Site) goldenCases(table *Table) {
	folders := must(filepath.Glob(s.file("tests/golden/cases/*")))
	compared := 0
	for _, folder := range folders {
		name := filepath.Base(folder)
		arguments := []string{}
		if policy := filepath.Join(folder, "policy.yaml"); must(exists(policy)) {
			arguments = []string{"-p", policy}
		}
		table.try("golden: "+name, func() error {
			return s.with(arguments, func(server *Server) error {
				client, err := s.loopback(server, "/interpret")
				if err != nil {
					return err
				}
				requests, lines := s.golden(folder)
				for at, body := range requests {
					if err := goldenBytes(client, body, &lines[at]); err != nil {
						return fmt.Errorf("request %d: %w", at, err)
					}
				}
				for at, body := range requests {
					done, err := s.goldenPreview(client, body, fmt.Sprintf("%s-%d", name, at), arguments)
					if err != nil {
						return fmt.Errorf("request %d, decoded and encoded: %w", at, err)
					}
					compared += done
				}
				return nil
			})
		})
	}
	if table.only == "" {
		table.try("golden: enough of them were compared with a preview", func() error {
			if compared < 60 {
				return fmt.Errorf("only %d", compared)
			}
			return nil
		})
	}
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// golden are the bodies of a case, and what each gets.
func (s *Site) golden(folder string) ([]json.RawMessage, []Expected) {
	var requests []json.RawMessage
	var lines []Expected
	text := must(os.ReadFile(filepath.Join(folder, "request.json")))
	expected := must(os.ReadFile(filepath.Join(folder, "expected.json")))
	if strings.HasPrefix(string(text), "[") {
		ensure(json.Unmarshal(expected, &lines))
		ensure(json.Unmarshal(text, &requests))
	} else {
		lines = make([]Expected, 1)
		ensure(json.Unmarshal(expected, &lines[0]))
		requests = []json.RawMessage{text}
	}
	for at, request := range requests {
		var path string
		if json.Unmarshal(request, &path) == nil {
			requests[at] = must(os.ReadFile(s.file(path)))
		}
	}
	if len(requests) != len(lines) {
		panic(folder + ": there is not a line for each request")
	}
	return requests, lines
}

func goldenBytes(client *Client, body []byte, expected *Expected) error {
	var envelope struct {
		Request struct {
			UID       types.UID       `json:"uid"`
			Operation string          `json:"operation"`
			Object    json.RawMessage `json:"object"`
		} `json:"request"`
	}
	ensure(json.Unmarshal(body, &envelope))
	asked := envelope.Request
	answer, err := client.interpretBody(body, asked.UID, asked.Operation)
	if err := expected.check(answer, err); err != nil || expected.patch == nil {
		return err
	}
	_, err = applied(object(asked.Object), answer.Patch)
	return err
}

// goldenPreview compares with a preview what can be: a preview knows one schedule, and no template. It gives how many
// that were, none or one.
func (s *Site) goldenPreview(client *Client, body []byte, name string, policy []string) (int, error) {
	asked := &ResourceInterpreterContext{}
	if json.Unmarshal(body, asked) != nil || asked.Request.Operation != "ReviseObject" || !previewable(asked.Request) {
		return 0, nil
	}
	// What is no object can't be in the hands of this caller.
	if (&unstructured.Unstructured{}).UnmarshalJSON(asked.Request.Object.Raw) != nil {
		return 0, nil
	}
	asked = question(body)
	before := asked.Request.Object.Object.(*unstructured.Unstructured)
	before.SetName(name)
	asked.Request.Name = name
	answer, err := client.interpret(asked)
	shown, refused := s.preview(asked.Request, policy...)
	var ours, theirs Refused
	if errors.As(err, &ours) && errors.As(refused, &theirs) {
		return 1, expect("message, unlike in a preview", ours.message, theirs.message)
	}
	if err := first(err, refused); err != nil {
		return 0, fmt.Errorf("answer and preview: %v, %v", answer, err)
	}
	after, err := applied(before, answer.Patch)
	return 1, first(err, same("after the patch, unlike in a preview", after, shown))
}

func previewable(asked *Question) bool {
	listed := 0
	for _, target := range asked.TargetClusters {
		if target.Name == asked.ClusterName {
			listed++
			if asked.Replicas != nil && *asked.Replicas != target.Replicas {
				return false
			}
		}
	}
	return listed == 1 && asked.OriginalObject == nil && !repeated(asked.TargetClusters)
}

// repeated is whether a cluster is there twice, which a preview takes for a mistake in its arguments.
func repeated(targets []TargetCluster) bool {
	seen := map[string]bool{}
	for _, target := range targets {
		if seen[target.Name] {
			return true
		}
		seen[target.Name] = true
	}
	return false
}
