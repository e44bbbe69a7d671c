// Command merge-keys writes how the kinds of Kubernetes merge, as Rust on its standard output:
//
//	go run . > ../../../../src/patch/strategic/table.rs
//
// It reads the types of k8s.io/api, as the scheme of client-go registers them: the JSON names of their fields and the tags
// patchStrategy and patchMergeKey. The keys of server-side apply (x-kubernetes-list-map-keys), which are not in the tags, come from
// the schema in k8s.io/client-go/applyconfigurations/internal, with the defaults of these keys. That package cannot be imported, so
// its source is read.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

const header = `//! How the kinds of Kubernetes merge: written by tests/data/record/merge-keys from the types of k8s.io/api %s,
//! as the scheme of k8s.io/client-go %s registers them. Nothing here is written by hand.

use super::schema::Field;
use super::schema::Holds::{Atomic, AtomicMaps, Free, Keyed, Map, Set, Whole};

`

var marshaler = reflect.TypeOf((*json.Marshaler)(nil)).Elem()

type kind struct {
	apiVersion, name string
	typ              reflect.Type
}

// The table as it grows. Types whose fields merge alike are one.
type table struct {
	rows  []string
	names []string
	// From what a row says to its place.
	same map[string]int
	// From a type to the place of its row.
	seen map[reflect.Type]int
	// What server-side apply knows of the types.
	applied *schema.Schema
}

func main() {
	kinds := allKinds()
	table := table{same: map[string]int{}, seen: map[reflect.Type]int{}, applied: applySchema()}
	meta := table.row(reflect.TypeOf(metav1.ObjectMeta{}))
	template := table.row(reflect.TypeOf(corev1.PodTemplateSpec{}))
	for _, kind := range kinds {
		table.row(kind.typ)
	}

	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintf(out, header, version("k8s.io/api"), version("k8s.io/client-go"))
	fmt.Fprintf(out, "/// The row of every `metadata`.\npub(super) const OBJECT_META: usize = %d;\n\n", meta)
	fmt.Fprintf(out, "/// The row of `PodTemplateSpec`.\npub(super) const POD_TEMPLATE: usize = %d;\n\n", template)
	fmt.Fprintf(out, "/// The kinds, sorted, and their rows.\n#[rustfmt::skip]\npub(super) static KINDS: &[(&str, &str, usize)] = &[\n")
	for _, kind := range kinds {
		fmt.Fprintf(out, "    (%q, %q, %d),\n", kind.apiVersion, kind.name, table.row(kind.typ))
	}
	fmt.Fprintf(out, "];\n\n/// The fields that hold maps or lists, sorted, of each type.\n#[rustfmt::skip]\npub(super) static TYPES: &[&[Field]] = &[\n")
	for position, row := range table.rows {
		fmt.Fprintf(out, "    /* %d %s */ &[%s],\n", position, table.names[position], row)
	}
	fmt.Fprintf(out, "];\n")
}

// Every kind that is an object of its own, which one knows by its metadata.
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

// The place of the row of a type, which is written if it is not there. Rows of inner types come first.
func (t *table) row(typ reflect.Type) int {
	if place, ok := t.seen[typ]; ok {
		return place
	}
	fields := map[string]string{}
	t.collect(typ, typ, fields, map[string]bool{})
	var names, parts []string
	for name, holds := range fields {
		if holds != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("(%q, %s)", name, fields[name]))
	}
	row := strings.Join(parts, ", ")
	place, ok := t.same[row]
	if !ok {
		place = len(t.rows)
		t.same[row] = place
		t.rows = append(t.rows, row)
		t.names = append(t.names, typ.Name())
	}
	t.seen[typ] = place
	return place
}

// The fields of a struct and of those that are written inline into it. A name of the outer one hides that of an inner one.
// The owner is the outermost struct: the schema of server-side apply has all of these fields there.
func (t *table) collect(owner, typ reflect.Type, fields map[string]string, taken map[string]bool) {
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
			fields[name] = t.holds(owner, name, member)
		}
	}
	for _, typ := range inline {
		t.collect(owner, typ, fields, taken)
	}
}

// What a field holds, in the words of the table; nothing if it is neither a map nor a list.
func (t *table) holds(owner reflect.Type, name string, member reflect.StructField) string {
	typ := pointed(member.Type)
	strategies := strings.Split(member.Tag.Get("patchStrategy"), ",")
	for _, word := range strategies {
		if !slices.Contains([]string{"", "merge", "replace", "retainKeys"}, word) {
			fail("%s.%s has the strategy %q", owner, member.Name, word)
		}
	}
	whole := slices.Contains(strategies, "replace")
	switch typ.Kind() {
	case reflect.Map, reflect.Struct:
		switch {
		case whole:
			return "Whole"
		case typ.Kind() == reflect.Map || reflect.PointerTo(typ).Implements(marshaler):
			// No field of it can be looked up: it has none, or they are not what its JSON has.
			return "Free"
		}
		return fmt.Sprintf("Map(%d)", t.row(typ))
	case reflect.Slice:
		item, key := pointed(typ.Elem()), member.Tag.Get("patchMergeKey")
		isMap := item.Kind() == reflect.Struct && !reflect.PointerTo(item).Implements(marshaler)
		switch {
		case !slices.Contains(strategies, "merge") && key == "" && isMap:
			return fmt.Sprintf("AtomicMaps(%d)", t.row(item))
		case !slices.Contains(strategies, "merge") && key == "":
			return "Atomic"
		case slices.Contains(strategies, "merge") && isMap && key != "":
			return fmt.Sprintf("Keyed(%q, &[%s], %d)", key, t.otherKeys(owner, name, key), t.row(item))
		case slices.Contains(strategies, "merge") && item.Kind() != reflect.Struct && key == "":
			return "Set"
		}
		fail("%s.%s has the strategies %q and the merge key %q", owner, member.Name, strategies, key)
	}
	return ""
}

// The keys that server-side apply tells the items of a list apart by, besides the merge key, each with its default.
func (t *table) otherKeys(owner reflect.Type, name, mergeKey string) string {
	field, ok := t.appliedField(schemaName(owner), name)
	if !ok || field.Type.Inlined.List == nil || len(field.Type.Inlined.List.Keys) == 0 {
		return ""
	}
	keys, item := field.Type.Inlined.List.Keys, field.Type.Inlined.List.ElementType.NamedType
	if !slices.Contains(keys, mergeKey) {
		if len(keys) == 1 {
			return ""
		}
		fail("%s.%s is merged by %q, and applied by %q", owner, name, mergeKey, keys)
	}
	var others []string
	for _, key := range keys {
		if key == mergeKey {
			continue
		}
		field, ok := t.appliedField(*item, key)
		if !ok {
			fail("%s has no field %q", *item, key)
		}
		// An empty default is that of Go, and no value of the API.
		text, isText := field.Default.(string)
		switch {
		case field.Default == nil || text == "" && isText:
			others = append(others, fmt.Sprintf("(%q, None)", key))
		case isText:
			others = append(others, fmt.Sprintf("(%q, Some(%q))", key, text))
		default:
			fail("%s.%s has the default %v", *item, key, field.Default)
		}
	}
	return strings.Join(others, ", ")
}

func (t *table) appliedField(typ, name string) (schema.StructField, bool) {
	def, ok := t.applied.FindNamedType(typ)
	if !ok || def.Map == nil {
		return schema.StructField{}, false
	}
	return def.Map.FindField(name)
}

// The name of a type in the schema: io.k8s.api.core.v1.Container.
func schemaName(typ reflect.Type) string {
	host, path, _ := strings.Cut(typ.PkgPath(), "/")
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(append(append(labels, strings.Split(path, "/")...), typ.Name()), ".")
}

// The schema of server-side apply that client-go is built with.
func applySchema() *schema.Schema {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	if err != nil {
		fail("go list: %v", err)
	}
	path := filepath.Join(strings.TrimSpace(string(out)), "applyconfigurations", "internal", "internal.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		fail("%v", err)
	}
	var text string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if ok && len(spec.Names) == 1 && spec.Names[0].Name == "schemaYAML" {
			if call, ok := spec.Values[0].(*ast.CallExpr); ok && len(call.Args) == 1 {
				if literal, ok := call.Args[0].(*ast.BasicLit); ok {
					text, _ = strconv.Unquote(literal.Value)
				}
			}
		}
		return true
	})
	if text == "" {
		fail("%s has no schemaYAML", path)
	}
	parsed, err := typed.NewParser(typed.YAMLObject(text))
	if err != nil {
		fail("%s: %v", path, err)
	}
	return &parsed.Schema
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
