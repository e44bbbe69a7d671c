// Command tables writes what reviser knows of the built-in kinds of Kubernetes, as Rust on its standard output:
//
//	go run . merge > ../../../../src/patch/strategic/table.rs
//	go run . types > ../../../../src/schema/table.rs
//
// It reads the Go types of k8s.io/api, as the scheme of client-go registers them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

var (
	marshaler   = reflect.TypeOf((*json.Marshaler)(nil)).Elem()
	unmarshaler = reflect.TypeOf((*json.Unmarshaler)(nil)).Elem()
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch strings.Join(os.Args[1:], " ") {
	case "merge":
		writeMerge(out)
	case "types":
		writeTypes(out)
	default:
		fail("usage: tables merge|types")
	}
}

type kind struct {
	apiVersion, name string
	typ              reflect.Type
}

// The kinds that are objects of their own: those with metadata.
func allKinds() []kind {
	var kinds []kind
	meta := reflect.TypeOf(metav1.ObjectMeta{})
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		field, ok := typ.FieldByName("ObjectMeta")
		if !ok || field.Type != meta || gvk.Version == "__internal" {
			continue
		}
		apiVersion, name := gvk.ToAPIVersionAndKind()
		kinds = append(kinds, kind{apiVersion, name, typ})
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		if a.apiVersion != b.apiVersion {
			return strings.Compare(a.apiVersion, b.apiVersion)
		}
		return strings.Compare(a.name, b.name)
	})
	return kinds
}

// A field of a struct by its name in JSON.
type field struct {
	name   string
	member reflect.StructField
}

// The fields of a struct and of those that are inlined into it. A field of the outer one hides that of an inner one.
func fieldsOf(typ reflect.Type) []field {
	var fields []field
	taken := map[string]bool{}
	var collect func(typ reflect.Type)
	collect = func(typ reflect.Type) {
		var inline []reflect.Type
		for position := range typ.NumField() {
			member := typ.Field(position)
			name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
			switch {
			case name == "-" || !member.IsExported():
			case name == "" && (member.Anonymous || strings.Contains(options, "inline")):
				inline = append(inline, pointed(member.Type))
			case name == "":
				fail("%s.%s has no name in JSON", typ, member.Name)
			case !taken[name]:
				taken[name] = true
				fields = append(fields, field{name, member})
			}
		}
		for _, typ := range inline {
			collect(typ)
		}
	}
	collect(typ)
	return fields
}

// The pairs of a row, sorted by the name of the field.
func joined(fields map[string]string) string {
	var parts []string
	for name, holds := range fields {
		parts = append(parts, fmt.Sprintf("(%q, %s)", name, holds))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func writeKinds(out io.Writer, row func(reflect.Type) int) {
	fmt.Fprintf(out, "#[rustfmt::skip]\npub(super) static KINDS: &[(&str, &str, usize)] = &[\n")
	for _, kind := range allKinds() {
		fmt.Fprintf(out, "    (%q, %q, %d),\n", kind.apiVersion, kind.name, row(kind.typ))
	}
	fmt.Fprintf(out, "];\n\n")
}

func writeRows(out io.Writer, item string, rows, names []string) {
	fmt.Fprintf(out, "#[rustfmt::skip]\npub(super) static %s = &[\n", item)
	for position, row := range rows {
		fmt.Fprintf(out, "    /* %d %s */ &[%s],\n", position, names[position], row)
	}
	fmt.Fprintf(out, "];\n")
}

func pointed(typ reflect.Type) reflect.Type {
	if typ.Kind() == reflect.Pointer {
		return typ.Elem()
	}
	return typ
}

// The version of a module that this program is built with.
func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	fail("%s is not built in", module)
	return ""
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}
