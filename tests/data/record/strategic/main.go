// Command strategic records what kubectl answers to strategic merge patches, as a line of JSON a case on its standard output:
//
//	go run . > ../../strategic.jsonl
//
// It reads cases.txt, which tells how it is written, and runs the kubectl of the path.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

//go:embed cases.txt
var cases string

type record struct {
	Ours    string          `json:"ours"`
	Object  json.RawMessage `json:"object"`
	Patch   json.RawMessage `json:"patch"`
	Kubectl json.RawMessage `json:"kubectl,omitempty"`
	Refused string          `json:"refused,omitempty"`
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encode := func(value any) {
		if err := encoder.Encode(value); err != nil {
			fail("%v", err)
		}
	}
	encode(map[string]string{"origin": "kubectl patch --local --type strategic, kubectl " + version()})

	ours, objects := "same", map[string]string{}
	seen := map[string]bool{}
	each := func(object, patch string) {
		if seen[object+"\x00"+patch] {
			fail("twice: %s <- %s", object, patch)
		}
		seen[object+"\x00"+patch] = true
		encode(ask(ours, object, patch))
	}
	for number, line := range strings.Split(cases, "\n") {
		line = strings.TrimSpace(line)
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || name == "#":
		case name == "ours:":
			ours = rest
		case strings.HasPrefix(rest, "= "):
			objects[name] = strings.TrimPrefix(rest, "= ")
		case strings.HasPrefix(rest, "<- "):
			object, ok := objects[name]
			if !ok {
				fail("line %d: there is no object %q", number+1, name)
			}
			each(object, strings.TrimPrefix(rest, "<- "))
		case name == "list":
			words := strings.Fields(rest)
			if len(words) != 4 {
				fail("line %d: list apiVersion kind place key", number+1)
			}
			list(words[0], words[1], words[2], words[3], each)
		case name == "atomic":
			words := strings.Fields(rest)
			if len(words) != 3 {
				fail("line %d: atomic apiVersion kind place", number+1)
			}
			atomic(words[0], words[1], words[2], each)
		default:
			fail("line %d: %s", number+1, line)
		}
	}
}

// The cases of a list that is merged by a key.
func list(apiVersion, kind, place, key string, each func(object, patch string)) {
	object := at(apiVersion, kind, place, `[{"K":"a","x":1},{"K":"b","x":2},{"K":"c","x":3}]`, key)
	for _, patch := range []string{
		`[{"K":"b","x":null,"y":2}]`,
		`[{"K":"d","y":null},{"K":"a"}]`,
		`[{"K":"b","$patch":"delete"}]`,
		`[{"$patch":"replace"},{"K":"d"}]`,
		`[{"x":1}]`,
	} {
		each(object, at("", "", place, patch, key))
	}
}

// The cases of a list that is replaced.
func atomic(apiVersion, kind, place string, each func(object, patch string)) {
	object := at(apiVersion, kind, place, `[{"name":"a","type":"a","x":1},{"name":"b","type":"b"}]`, "")
	each(object, at("", "", place, `[{"name":"b","type":"b","y":null}]`, ""))
}

// An object, or a patch, with a list at a place: /spec/containers, with [a] behind the lists on the way.
func at(apiVersion, kind, place, list, key string) string {
	value := strings.ReplaceAll(list, `"K"`, fmt.Sprintf("%q", key))
	steps := strings.Split(place, "/")[1:]
	for position := len(steps) - 1; position >= 0; position-- {
		step, item, isList := strings.Cut(steps[position], "[")
		if isList {
			outer, name, _ := strings.Cut(strings.TrimSuffix(item, "]"), "=")
			value = fmt.Sprintf(`[{%q:%q,%s]`, outer, name, strings.TrimPrefix(value, "{"))
		}
		value = fmt.Sprintf(`{%q:%s}`, step, value)
	}
	if kind != "" {
		head := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, apiVersion, kind)
		if !strings.HasPrefix(place, "/metadata") {
			head += `"metadata":{"name":"n"},`
		} else {
			value = strings.Replace(value, `{"metadata":{`, `{"metadata":{"name":"n",`, 1)
		}
		value = head + strings.TrimPrefix(value, "{")
	}
	return value
}

func ask(ours, object, patch string) record {
	answer := record{Ours: ours, Object: json.RawMessage(object), Patch: json.RawMessage(patch)}
	command := exec.Command("kubectl", "patch", "--local", "-f", "-", "--type", "strategic", "-o", "json", "-p", patch)
	command.Stdin = strings.NewReader(object)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err == nil {
		answer.Kubectl = stdout.Bytes()
		return answer
	}
	first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	if len(first) > 160 {
		first = strings.ToValidUTF8(first[:160], "")
	}
	if answer.Refused = first; first == "" {
		fail("kubectl says nothing about %s <- %s", object, patch)
	}
	return answer
}

func version() string {
	out, err := exec.Command("kubectl", "version", "--client", "-o", "json").Output()
	if err != nil {
		fail("kubectl: %v", err)
	}
	var answer struct {
		ClientVersion struct{ GitVersion string }
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		fail("kubectl version: %v", err)
	}
	return answer.ClientVersion.GitVersion
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}
