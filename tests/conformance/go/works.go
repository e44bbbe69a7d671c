package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// What a review of a Work does.
const (
	// The webhook is not called, and would change nothing.
	notCalled = iota
	// It is called, and the Work stays as it is.
	nothing
	// A record comes to the Work, and its manifest stays as it is.
	recorded
	// The manifest is another one.
	revised
)

// recordings are, for each binding of the recorded Rollout, the reviews at about its time, in an order that a fort could
// live through.
var recordings = []struct {
	binding string
	reviews []recording
}{
	{"rb-w31", []recording{
		{"create-cluster-x-w31", recorded}, {"create-cluster-z-w31", revised},
		{"create-configmap-cluster-x", notCalled}, {"create-secret-cluster-x", notCalled},
		{"create-namespace-cluster-x", notCalled}, {"create-namespace-cluster-z", notCalled},
		{"create-deployment-cluster-x", notCalled}, {"create-deployment-cluster-z", notCalled},
		{"update-cluster-x-w31", recorded}, {"update-cluster-z-w31", revised}, {"update-cluster-z-restart", revised},
		{"label-cluster-x", recorded}, {"label-cluster-z", nothing}, {"dryrun-label-cluster-z", nothing},
		{"dryrun-delete", notCalled}, {"update-cluster-z-reweight-stale", revised},
		{"update-cluster-x-reweight", recorded}, {"update-cluster-z-reweight", revised},
		{"create-cluster-x-added-back", recorded},
	}},
	{"rb-r0", []recording{
		{"create-cluster-x-r0", recorded}, {"create-cluster-z-r0", revised},
		{"update-cluster-x-r0", recorded}, {"update-cluster-z-r0", revised},
		{"update-cluster-x-scale-to-0-stale", recorded}, {"update-cluster-x-scale-to-0", recorded},
		{"update-cluster-z-scale-to-0", revised},
	}},
	{"rb-seq-5-remove-cluster-x", []recording{
		{"update-cluster-x-not-in-binding", revised}, {"update-cluster-z-takes-over", recorded},
	}},
	{"rb-at-work-finalizer-cluster-x", []recording{
		{"delete-cluster-x", notCalled}, {"finalizer-cluster-x", notCalled}, {"delete-cluster-z", notCalled},
		{"finalizer-cluster-z", notCalled}, {"delete-configmap-cluster-x", notCalled},
		{"finalizer-configmap-cluster-x", notCalled},
	}},
}

type recording struct {
	name string
	does int
}

// worksCases hold what the admission of an API server does with Works.
func (s *Site) worksCases(table *Table) {
	captures := s.file("tests/data/captures")
	listed := 0
	for _, moment := range recordings {
		listed += len(moment.reviews)
		arguments := []string{}
		for _, name := range []string{moment.binding, "rb-attached-configmap", "rb-attached-secret", "rb-deployment"} {
			arguments = append(arguments, "--state", filepath.Join(captures, name+".json"))
		}
		s.served(table, "works at "+moment.binding, arguments, func(server *Server) {
			apiserver := must(s.newAPIServer(routeTo(server), "--for", "karmada-works", "--url", "https://"+dnsName+":8443"))
			client := must(s.service(server, "/mutate/works"))
			for _, recording := range moment.reviews {
				table.try(fmt.Sprintf("works: %s at %s", recording.name, moment.binding), func() error {
					body := must(os.ReadFile(filepath.Join(captures, "work-"+recording.name+".json")))
					binding := object(must(os.ReadFile(filepath.Join(captures, moment.binding+".json"))))
					return s.work(apiserver, client, body, binding, recording.does)
				})
			}
		})
	}
	table.try("works: no recorded review is left out", func() error {
		files := len(must(filepath.Glob(filepath.Join(captures, "work-*.json"))))
		stored := len(must(filepath.Glob(filepath.Join(captures, "work-stored-*.json"))))
		return expect("reviews", listed, files-stored)
	})
	s.workSampleCases(table)
}

// work holds one recorded review.
func (s *Site) work(apiserver *APIServer, client *Client, body []byte, binding *unstructured.Unstructured, does int) error {
	asked := review(body)
	after, warnings, calls, err := apiserver.admit(asked)
	direct, verified := client.review(body)
	if err := first(err, verified, none(warnings), none(direct.Warnings), expect("allowed", direct.Allowed, true)); err != nil {
		return err
	}
	called := 1
	if does == notCalled {
		called = 0
	}
	if err := expect("calls", calls, called); err != nil {
		return err
	}
	before := held(asked.Request.Object)
	if does <= nothing {
		return first(expect("patch", string(direct.Patch), ""), equal("after the review", after, before))
	}
	patched, err := patchedByHand(direct.Patch, asked.Request.Object.Raw)
	if err != nil {
		return err
	}
	if err := same("after the plugin, unlike after the patch", after, patched); err != nil {
		return err
	}
	if err := s.asPreviewed(before, after, binding, does == revised); err != nil {
		return err
	}
	// Whoever touches what is stored now changes nothing.
	asked.Request.Operation = admissionv1.Update
	asked.Request.Object.Raw = must(after.MarshalJSON())
	asked.Request.OldObject.Raw = asked.Request.Object.Raw
	again, warnings, calls, err := apiserver.admit(asked)
	return first(err, none(warnings), expect("calls", calls, 1), equal("after a touch", again, after))
}

func none(warnings []string) error {
	if len(warnings) > 0 {
		return fmt.Errorf("warnings: %q", warnings)
	}
	return nil
}

// equal is same for objects that may not be there.
func equal(what string, found, expected *unstructured.Unstructured) error {
	if found == nil || expected == nil {
		return expect(what, found, expected)
	}
	return same(what, found, expected)
}

// patchedByHand is an object after a patch, by the library and the version that API servers have.
func patchedByHand(patch, text []byte) (*unstructured.Unstructured, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	after, err := operations.Apply(text)
	if err != nil {
		return nil, err
	}
	return object(after), nil
}

// asPreviewed fails unless the manifest is what a preview of it shows, and nothing else of the Work has changed, but for
// marker and record.
func (s *Site) asPreviewed(before, after, binding *unstructured.Unstructured, revised bool) error {
	manifests := func(work *unstructured.Unstructured) []any {
		list, _, err := unstructured.NestedSlice(work.Object, "spec", "workload", "manifests")
		ensure(err)
		return list
	}
	old := &unstructured.Unstructured{Object: manifests(before)[0].(map[string]any)}
	new := &unstructured.Unstructured{Object: manifests(after)[0].(map[string]any)}
	if err := expect("whether the manifest is another one", !reflect.DeepEqual(old, new), revised); err != nil {
		return err
	}
	if err := first(expect("manifests", len(manifests(after)), len(manifests(before))), markers(after, new, revised)); err != nil {
		return err
	}
	cluster := strings.TrimPrefix(after.GetNamespace(), "karmada-es-")
	asked := &Question{ClusterName: cluster, Object: runtime.RawExtension{Object: old}}
	clusters, _, err := unstructured.NestedSlice(binding.Object, "spec", "clusters")
	ensure(err)
	listed := false
	for _, item := range clusters {
		target := item.(map[string]any)
		replicas, _ := target["replicas"].(int64)
		asked.TargetClusters = append(asked.TargetClusters, TargetCluster{target["name"].(string), int32(replicas)})
		listed = listed || target["name"] == cluster
	}
	if !listed {
		// A preview knows no cluster beside the schedule. With no replicas and at the end it gets the same.
		asked.TargetClusters = append(asked.TargetClusters, TargetCluster{Name: cluster})
	}
	shown, err := s.preview(asked)
	if err != nil {
		return err
	}
	if err := same("the manifest, unlike in a preview", new, shown); err != nil {
		return err
	}
	return same("beside the manifest", beside(after), beside(before))
}

// beside is a Work without its manifests and without our record.
func beside(work *unstructured.Unstructured) *unstructured.Unstructured {
	rest := work.DeepCopy()
	unstructured.RemoveNestedField(rest.Object, "spec", "workload", "manifests")
	unstructured.RemoveNestedField(rest.Object, "metadata", "annotations", "reviser.io/revision")
	return rest
}

// markers fails unless there is a record, and a marker if the manifest was revised. It takes both away.
func markers(work, manifest *unstructured.Unstructured, revised bool) error {
	if _, there := work.GetAnnotations()["reviser.io/revision"]; !there {
		return fmt.Errorf("the Work has no record")
	}
	annotations := manifest.GetAnnotations()
	_, marked := annotations["reviser.io/revised"]
	delete(annotations, "reviser.io/revised")
	if len(annotations) == 0 {
		annotations = nil
	}
	manifest.SetAnnotations(annotations)
	return expect("marker", marked, revised)
}
