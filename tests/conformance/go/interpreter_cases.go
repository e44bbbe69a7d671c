package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// interpreterCases ask what a real Karmada asked, and what the samples show.
func (s *Site) interpreterCases(table *Table) {
	s.served(table, "interpreter", nil, func(server *Server) {
		for _, client := range must(s.protocols(server, "/interpret")) {
			s.sampleCases(table, client)
			s.captureCases(table, client)
		}
		table.try("interpreter: the 78 bodies of a whole run, in their order", func() error {
			return s.sequence(must(s.service(server, "/interpret")))
		})
	})
}

// served runs cases with a server. That it starts, and ends with the exit code 0, is a case, too.
func (s *Site) served(table *Table, name string, arguments []string, run func(*Server)) {
	err := s.with(arguments, func(server *Server) error {
		run(server)
		return nil
	})
	show := table.try
	if err != nil {
		show = table.run
	}
	show(name+": the server starts, serves, and ends cleanly", func() error { return err })
}

// sampleCases are in an order, in which allocations stay where they are.
func (s *Site) sampleCases(table *Table, client *Client) {
	files := must(filepath.Glob(s.file("samples", "[0-9]*.json")))
	var lines []Expected
	ensure(json.Unmarshal(must(os.ReadFile(s.file("tests/golden/cases/samples/expected.json"))), &lines))
	if len(files) != len(lines) {
		panic("there is not a line for each sample")
	}
	for at, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		table.try(fmt.Sprintf("interpreter: sample %s over %s", name, client.protocol), func() error {
			asked := question(must(os.ReadFile(file)))
			answer, err := client.interpret(asked)
			if err := first(lines[at].check(answer, err), expect("protocol", client.wire.proto, client.protocol)); err != nil {
				return err
			}
			if lines[at].patch == nil {
				return nil
			}
			after, err := applied(asked.Request.Object.Object.(*unstructured.Unstructured), answer.Patch)
			if err != nil || asked.Request.Operation != "ReviseObject" {
				return err
			}
			// The ninth is about an allocation that the third made.
			allocation := []string{}
			if strings.HasPrefix(name, "09-") {
				allocation = []string{"--allocation", "fort=cluster-x"}
			}
			shown, err := s.preview(asked.Request, allocation...)
			return first(err, same("after the patch, unlike in a preview", after, shown))
		})
	}
}

// preview is what `reviser preview` shows for a question's cluster, or a Refused without a code.
func (s *Site) preview(asked *Question, arguments ...string) (*unstructured.Unstructured, error) {
	schedule := []string{}
	for _, target := range asked.TargetClusters {
		schedule = append(schedule, fmt.Sprintf("%s=%d", target.Name, target.Replicas))
	}
	arguments = append([]string{"preview", "-f", "-", "-o", "json", "--clusters", strings.Join(schedule, ",")}, arguments...)
	command := s.command(arguments...)
	var stdout, stderr bytes.Buffer
	command.Stdin = bytes.NewReader(must(json.Marshal(asked.Object)))
	command.Stdout, command.Stderr = &stdout, &stderr
	// The exit code is 1 if one of the clusters is refused, whichever it is.
	ran := command.Run()
	var shown struct {
		Clusters []struct {
			Name   string          `json:"name"`
			Object json.RawMessage `json:"object"`
			Error  string          `json:"error"`
		} `json:"clusters"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &shown); err != nil {
		return nil, fmt.Errorf("reviser %s: %v: %s", strings.Join(arguments, " "), ran, stderr.String())
	}
	for _, cluster := range shown.Clusters {
		if cluster.Name != asked.ClusterName {
			continue
		}
		if cluster.Error != "" {
			return nil, Refused{message: cluster.Error}
		}
		return object(cluster.Object), nil
	}
	return nil, fmt.Errorf("the preview has no cluster %q", asked.ClusterName)
}

// captureCases are the requests that a real Karmada sent, one by one.
func (s *Site) captureCases(table *Table, client *Client) {
	count := 0
	for _, pattern := range []string{"interpret-*", "revise-*", "retain-*", "aggregate-*"} {
		files := must(filepath.Glob(s.file("tests/data/captures", pattern+".json")))
		sort.Strings(files)
		for _, file := range files {
			count++
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			table.try(fmt.Sprintf("interpreter: capture %s over %s", name, client.protocol), func() error {
				return client.captured(must(os.ReadFile(file)))
			})
		}
	}
	table.try("interpreter: there are captures", func() error {
		if count < 10 {
			return fmt.Errorf("only %d", count)
		}
		return nil
	})
}

// notAnswered is what operations get that this version does not answer.
const notAnswered = "is not answered by this version"

// captured asks what was asked, and looks at what each operation is for.
func (c *Client) captured(body []byte) error {
	asked := question(body)
	answer, err := c.interpret(asked)
	before := asked.Request.Object.Object.(*unstructured.Unstructured)
	switch asked.Request.Operation {
	case "InterpretReplica":
		wanted, _, _ := unstructured.NestedInt64(before.Object, "spec", "replicas")
		if err != nil {
			return err
		}
		if wanted == 0 && answer.ReplicaRequirements != nil {
			return errors.New("there are requirements at 0 replicas")
		}
		return expect("replicas", int64(*answer.Replicas), wanted)
	case "ReviseReplica":
		if err != nil {
			return err
		}
		after, err := applied(before, answer.Patch)
		if err != nil {
			return err
		}
		expected := before.DeepCopy()
		replicas := int64(*asked.Request.Replicas)
		if err := unstructured.SetNestedField(expected.Object, replicas, "spec", "replicas"); err != nil {
			return err
		}
		return same("after the patch", after, expected)
	default:
		return refusedWith(err, 400, fmt.Sprintf("request.operation: %q %s", asked.Request.Operation, notAnswered))
	}
}

// refusedWith fails unless the error is a refusal with this code and a message that begins so.
func refusedWith(err error, code int32, beginning string) error {
	refused, is := err.(Refused)
	if !is || refused.code != code || !strings.HasPrefix(refused.message, beginning) {
		return fmt.Errorf("%v instead of a refusal with %d: %s", err, code, beginning)
	}
	return nil
}

// sequence asks everything that was asked in a whole run. Its reviews are in works.go.
func (s *Site) sequence(client *Client) error {
	file := must(os.Open(s.file("tests/data/captures/sequence-requests.jsonl")))
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte("AdmissionReview")) {
			continue
		}
		count++
		if err := client.captured(lines.Bytes()); err != nil {
			return fmt.Errorf("the body %d: %w", count, err)
		}
	}
	return first(lines.Err(), expect("bodies", count, 78), expect("exchanges", client.wire.count, count))
}
