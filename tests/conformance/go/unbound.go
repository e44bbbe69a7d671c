package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// unboundPolicy selects kinds that Karmada delivers without a binding, and a kind that it delivers with a binding.
const unboundPolicy = `
apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: network}
spec:
  resourceSelectors:
  - {apiVersion: v1, kind: Namespace}
  - {apiVersion: discovery.k8s.io/v1, kind: EndpointSlice}
  - {apiVersion: deploy.example.com/v1alpha1, kind: Rollout, namespace: shop}
  rules:
  - name: network
    patch: {type: Merge, value: {metadata: {labels: {topology.istio.io/network: "network-${cluster.name}"}}}}
`

// unboundCases hold which Works without a binding come, that no condition errs, and what is stored.
func (s *Site) unboundCases(table *Table) {
	policy := filepath.Join(s.scratch, "unbound.yaml")
	ensure(os.WriteFile(policy, []byte(unboundPolicy), 0o600))
	s.served(table, "unbound", []string{"-p", policy, "--state", s.file("samples/works/state")}, func(server *Server) {
		configured := func(arguments ...string) *APIServer {
			arguments = append([]string{"--for", "karmada-works", "--url", "https://" + dnsName + ":8443"}, arguments...)
			return must(s.newAPIServer(routeTo(server), arguments...))
		}
		selected, builtIn := configured("-p", policy), configured()
		for _, cluster := range []string{"cluster-x", "cluster-z"} {
			table.try("unbound: the captured Namespace for "+cluster, func() error {
				return s.namespace(selected, builtIn, server, cluster)
			})
		}
		works := unboundWorks()
		for _, name := range slices.Sorted(maps.Keys(works)) {
			work := works[name]
			table.try("unbound: "+name, func() error {
				asked := reviewOf(work.Unstructured)
				_, _, calls, err := selected.admit(asked)
				if err := expect("calls", calls, work.calls); err != nil {
					return err
				}
				if refused := notByACondition(err); refused != nil {
					return refused
				}
				// Only the Rollout is of the built-in policy.
				if work.kind == "Rollout" {
					return nil
				}
				_, _, calls, err = builtIn.admit(reviewOf(work.Unstructured))
				return first(err, expect("calls where nothing selects it", calls, work.callsUnselected))
			})
		}
		table.try("unbound: no shape of a Work makes a condition err", func() error {
			return shapes(selected)
		})
	})
}

// namespace holds what becomes of the Work of a Namespace: revised, stored once, and not sent for other policies.
func (s *Site) namespace(selected, builtIn *APIServer, server *Server, cluster string) error {
	body := must(os.ReadFile(s.file("tests/data/captures/work-create-namespace-" + cluster + ".json")))
	asked := review(body)
	after, warnings, calls, err := selected.admit(asked)
	if err := first(err, none(warnings), expect("calls", calls, 1)); err != nil {
		return err
	}
	direct, err := must(s.service(server, "/mutate/works")).review(body)
	if err != nil {
		return err
	}
	patched, err := patchedByHand(direct.Patch, asked.Request.Object.Raw)
	if err := first(err, same("after the plugin, unlike after the patch", after, patched)); err != nil {
		return err
	}
	manifests, _, err := unstructured.NestedSlice(after.Object, "spec", "workload", "manifests")
	ensure(err)
	found, _, err := unstructured.NestedString(manifests[0].(map[string]any), "metadata", "labels", "topology.istio.io/network")
	if err := first(err, expect("label", found, "network-"+cluster)); err != nil {
		return err
	}
	before := held(asked.Request.Object)
	// What is revised comes for whatever policies, to be undone.
	again := review(body)
	again.Request.Operation = admissionv1.Update
	again.Request.Object.Raw = must(after.MarshalJSON())
	again.Request.OldObject.Raw = again.Request.Object.Raw
	once, warnings, calls, err := selected.admit(again)
	if err := first(err, none(warnings), expect("calls", calls, 1), equal("after a touch", once, after)); err != nil {
		return err
	}
	_, _, calls, err = builtIn.admit(again)
	if err := first(err, expect("calls for other policies", calls, 1)); err != nil {
		return err
	}
	stays, _, calls, err := builtIn.admit(review(body))
	return first(err, expect("calls unrevised for other policies", calls, 0), equal("unrevised for other policies", stays, before))
}

// unboundWork is a Work, and how often the webhook is called for it.
type unboundWork struct {
	*unstructured.Unstructured
	kind                   string
	calls, callsUnselected int
}

// unboundWorks are Works as the controllers of Karmada make them, and some that only resemble those.
func unboundWorks() map[string]unboundWork {
	works := map[string]unboundWork{}
	add := func(name, apiVersion, kind, namespace string, calls, unselected int, change func(work, manifest map[string]any)) {
		manifest := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "web"}}
		if namespace != "" {
			manifest["metadata"].(map[string]any)["namespace"] = namespace
		}
		work := map[string]any{
			"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work",
			"metadata": map[string]any{"name": "web", "namespace": "karmada-es-cluster-x"},
			"spec":     map[string]any{"workload": map[string]any{"manifests": []any{manifest}}},
		}
		change(work, manifest)
		works[name] = unboundWork{&unstructured.Unstructured{Object: work}, kind, calls, unselected}
	}
	metadata := func(object map[string]any, key string, value any) { object["metadata"].(map[string]any)[key] = value }
	asItIs := func(_, _ map[string]any) {}
	suspended := func(work, _ map[string]any) { work["spec"].(map[string]any)["suspendDispatching"] = true }
	suppressed := func(work, _ map[string]any) {
		metadata(work, "labels", map[string]any{"propagation.karmada.io/instruction": "suppressed"})
	}
	annotated := func(key string) func(work, _ map[string]any) {
		return func(work, _ map[string]any) { metadata(work, "annotations", map[string]any{key: "x"}) }
	}
	both := func(one, other func(work, manifest map[string]any)) func(work, manifest map[string]any) {
		return func(work, manifest map[string]any) { one(work, manifest); other(work, manifest) }
	}
	const slice = "discovery.k8s.io/v1"
	add("a Namespace", "v1", "Namespace", "", 1, 0, asItIs)
	add("a Namespace with an override", "v1", "Namespace", "", 1, 0, annotated("policy.karmada.io/applied-cluster-overrides"))
	add("a Namespace that is being deleted", "v1", "Namespace", "", 0, 0, func(work, _ map[string]any) {
		metadata(work, "deletionTimestamp", "2026-11-30T03:33:54Z")
	})
	add("a Namespace of another group", "example.com/v1", "Namespace", "", 0, 0, asItIs)
	add("a ConfigMap without a binding", "v1", "ConfigMap", "shop", 0, 0, asItIs)
	add("a ConfigMap with a binding", "v1", "ConfigMap", "shop", 0, 0, annotated("resourcebinding.karmada.io/name"))
	add("a ResourceQuota", "v1", "ResourceQuota", "shop", 0, 0, asItIs)
	add("a ClusterRole", "rbac.authorization.k8s.io/v1", "ClusterRole", "", 0, 0, asItIs)
	add("a dispatched EndpointSlice", slice, "EndpointSlice", "shop", 1, 0, annotated("endpointslice.karmada.io/provision-cluster"))
	add("a collected EndpointSlice", slice, "EndpointSlice", "shop", 0, 0, suspended)
	add("a collected EndpointSlice before 1.14", slice, "EndpointSlice", "shop", 0, 0, suppressed)
	add("a Work that is not suspended", slice, "EndpointSlice", "shop", 1, 0, func(work, _ map[string]any) {
		work["spec"].(map[string]any)["suspendDispatching"] = false
		metadata(work, "labels", map[string]any{"propagation.karmada.io/instruction": "other"})
	})
	add("a suspended Work with a record", slice, "EndpointSlice", "shop", 1, 1, both(suspended, annotated("reviser.io/revision")))
	add("a suspended Work with a binding", "deploy.example.com/v1alpha1", "Rollout", "shop", 1, 1,
		both(suspended, annotated("resourcebinding.karmada.io/name")))
	add("a Rollout without a binding", "deploy.example.com/v1alpha1", "Rollout", "shop", 1, 1, asItIs)
	add("a Rollout of another namespace", "deploy.example.com/v1alpha1", "Rollout", "other", 0, 1, asItIs)
	add("a MultiClusterService", "networking.karmada.io/v1alpha1", "MultiClusterService", "shop", 0, 0, suspended)
	return works
}

// reviewOf is a review of the creation of a Work.
func reviewOf(work *unstructured.Unstructured) *admissionv1.AdmissionReview {
	review := &admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID:       "u",
		Kind:      metav1.GroupVersionKind{Group: "work.karmada.io", Version: "v1alpha1", Kind: "Work"},
		Resource:  metav1.GroupVersionResource{Group: "work.karmada.io", Version: "v1alpha1", Resource: "works"},
		Namespace: "karmada-es-cluster-x", Name: "web", Operation: admissionv1.Create,
	}}
	review.Request.Object.Raw = must(json.Marshal(work.Object))
	return review
}

// notByACondition fails if it is a condition that refused: with 403, whatever the object is.
func notByACondition(err error) error {
	if apierrors.IsForbidden(err) || err != nil && strings.Contains(err.Error(), "matchCondition") {
		return err
	}
	return nil
}

// shapes puts odd values in places of Works without a binding.
func shapes(apiserver *APIServer) error {
	odd := []any{nil, true, int64(7), 0.5, "", "true", "suppressed", []any{}, []any{nil}, []any{"x", int64(1)}, map[string]any{},
		map[string]any{"": map[string]any{}}}
	places := []string{"metadata/annotations", "metadata/labels", "metadata/labels/propagation.karmada.io~1instruction", "spec",
		"spec/suspendDispatching", "spec/workload", "spec/workload/manifests", "spec/workload/manifests/0",
		"spec/workload/manifests/0/metadata", "spec/workload/manifests/0/kind", "spec/workload/manifests/0/apiVersion"}
	for name, work := range unboundWorks() {
		for _, place := range places {
			for _, value := range odd {
				changed := work.DeepCopy()
				if !put(changed.Object, strings.Split(place, "/"), value) {
					continue
				}
				_, _, _, err := apiserver.admit(reviewOf(changed))
				if refused := notByACondition(err); refused != nil {
					return fmt.Errorf("%s with %v at %s: %w", name, value, place, refused)
				}
			}
		}
	}
	return nil
}

// put puts a value in a place, if what is above is there.
func put(at any, path []string, value any) bool {
	step := strings.ReplaceAll(path[0], "~1", "/")
	switch at := at.(type) {
	case map[string]any:
		if len(path) == 1 {
			at[step] = value
			return true
		}
		return put(at[step], path[1:], value)
	case []any:
		position, err := strconv.Atoi(step)
		if err != nil || position >= len(at) {
			return false
		}
		if len(path) == 1 {
			at[position] = value
			return true
		}
		return put(at[position], path[1:], value)
	}
	return false
}
