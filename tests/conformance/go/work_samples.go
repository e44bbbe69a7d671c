package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// workSampleCases: denials, failures, warnings and dry runs, as whoever writes a Work sees them.
func (s *Site) workSampleCases(table *Table) {
	ledger := filepath.Join(s.scratch, "ledger")
	arguments := []string{"--state", s.file("samples/works/state"), "--ledger", "file:" + ledger}
	s.served(table, "works: samples", arguments, func(server *Server) {
		apiserver := must(s.newAPIServer(routeTo(server), "--for", "karmada-works", "--url", "https://"+dnsName+":8443"))
		try := func(name string, run func() error) { table.try("works: "+name, run) }
		try("a dry run gets an answer, and writes nothing to the ledger", func() error {
			return s.dryRun(apiserver, ledger)
		})
		try("samples 01 and 02 are stored, and 03 changes nothing of it", func() error {
			for _, name := range []string{"01-create-fort", "02-create-elsewhere"} {
				if _, _, calls, err := apiserver.admit(s.workSample(name)); err != nil || calls != 1 {
					return fmt.Errorf("%s: %d calls, %v", name, calls, err)
				}
			}
			asked := s.workSample("03-label-revised")
			after, shown, _, err := apiserver.admit(asked)
			return first(err, none(shown), equal("after it", after, held(asked.Request.Object)))
		})
		denied := `admission webhook "works.reviser.io" denied the request: `
		try("sample 04 is denied with what to do", func() error {
			_, _, _, err := apiserver.admit(s.workSample("04-edit-revised"))
			return status(err, 422, metav1.StatusReasonInvalid, denied+"Rollout/checkout: /spec/workload/manifests/0: it is marked")
		})
		try("sample 04, once it is stored, is left as it is with a warning", func() error {
			asked := s.workSample("04-edit-revised")
			asked.Request.OldObject = asked.Request.Object
			after, shown, _, err := apiserver.admit(asked)
			return first(err, expect("warnings", len(shown), 1), equal("after it", after, held(asked.Request.Object)))
		})
		try("sample 05 does not come", func() error {
			_, _, calls, err := apiserver.admit(s.workSample("05-create-configmap"))
			return first(err, expect("calls", calls, 0))
		})
		try("sample 06 is denied with its place", func() error {
			_, _, _, err := apiserver.admit(s.workSample("06-create-broken"))
			return status(err, 422, metav1.StatusReasonInvalid, denied+`ClusterRevisionPolicy/rollout-fort rule "canary-steps"`)
		})
		failed := `Internal error occurred: failed calling webhook "works.reviser.io": failed to call webhook: `
		try("sample 08 is a failure of ours, once, with our message", func() error {
			asked := s.workSample("08-create-unbound")
			after, _, calls, err := apiserver.admit(asked)
			return first(expect("calls", calls, 1), equal("after it", after, held(asked.Request.Object)),
				status(err, 500, metav1.StatusReasonInternalError, failed+`Rollout/cart cluster "cluster-z": no binding`))
		})
		try("nobody there is a failure", func() error {
			gone := must(s.newAPIServer(Route{target: func() string { return "127.0.0.1:1" }},
				"--for", "karmada-works", "--url", "https://"+dnsName+":8443"))
			_, _, _, err := gone.admit(s.workSample("01-create-fort"))
			return status(err, 500, metav1.StatusReasonInternalError, failed)
		})
		for _, client := range must(s.protocols(server, "/mutate/works")) {
			s.reviewCases(table, client)
		}
	})
}

func (s *Site) workSample(name string) *admissionv1.AdmissionReview {
	return review(must(os.ReadFile(s.file("samples/works", name+".json"))))
}

func (s *Site) dryRun(apiserver *APIServer, ledger string) error {
	asked := s.workSample("07-dry-run")
	before := must(os.ReadFile(ledger))
	after, shown, calls, err := apiserver.admit(asked)
	if err := first(err, none(shown), expect("calls", calls, 1)); err != nil {
		return err
	}
	if !bytes.Equal(must(os.ReadFile(ledger)), before) {
		return fmt.Errorf("the ledger was written")
	}
	dry := false
	asked.Request.DryRun = &dry
	stored, _, _, err := apiserver.admit(asked)
	if err := first(err, equal("without a dry run", stored, after)); err != nil {
		return err
	}
	if bytes.Equal(must(os.ReadFile(ledger)), before) {
		return fmt.Errorf("the ledger was not written without a dry run either")
	}
	return nil
}

// reviewCases are reviews that no API server with our configuration sends, and replies as they stand.
func (s *Site) reviewCases(table *Table, client *Client) {
	good := must(os.ReadFile(s.file("samples/works/01-create-fort.json")))
	edited := func(change func(request map[string]any)) []byte {
		var body map[string]any
		ensure(json.Unmarshal(good, &body))
		change(body["request"].(map[string]any))
		return must(json.Marshal(body))
	}
	try := func(name string, run func() error) { table.try("reviews: "+name+" over "+client.protocol, run) }
	try("a good one", func() error {
		response, err := client.review(good)
		return first(err, expect("protocol", client.wire.proto, client.protocol), expect("type", response.PatchType, "JSONPatch"))
	})
	failed := map[string]struct {
		body   []byte
		code   int32
		reason metav1.StatusReason
		says   string
	}{
		"no binding":         {must(os.ReadFile(s.file("samples/works/08-create-unbound.json"))), 503, metav1.StatusReasonServiceUnavailable, "Rollout/cart"},
		"an old version":     {bytes.Replace(good, []byte("k8s.io/v1"), []byte("k8s.io/v1beta1"), 1), 400, metav1.StatusReasonBadRequest, "apiVersion: must be"},
		"an interpreter's":   {s.sampleBody("02-revise-replica"), 400, metav1.StatusReasonBadRequest, "kind: must be"},
		"no uid":             {edited(func(request map[string]any) { delete(request, "uid") }), 400, metav1.StatusReasonBadRequest, "`request.uid`"},
		"too long a body":    {append(bytes.Clone(good), bytes.Repeat([]byte(" "), 9<<20)...), 413, metav1.StatusReasonRequestEntityTooLarge, "the body is longer"},
		"a body that breaks": {good[:len(good)/2], 400, metav1.StatusReasonBadRequest, "the body is no AdmissionReview"},
	}
	for name, wrong := range failed {
		try(name, func() error {
			ctx, cancel := patient()
			defer cancel()
			err := client.post(ctx, wrong.body, &admissionv1.AdmissionReview{})
			_, serves := client.review(good)
			return first(status(err, wrong.code, wrong.reason, wrong.says), serves, expect("Retry-After", client.wire.again(), false))
		})
	}
	try("an unknown operation is denied", func() error {
		response, err := client.review(edited(func(request map[string]any) { request["operation"] = "PATCH" }))
		if err != nil {
			return err
		}
		return first(expect("allowed", response.Allowed, false), expect("code", response.Result.Code, 400),
			fails(fmt.Errorf("%s", response.Result.Message), `request.operation: "PATCH" does not exist`))
	})
	try("another resource is allowed with a warning", func() error {
		response, err := client.review(edited(func(request map[string]any) {
			request["resource"] = map[string]any{"group": "", "version": "v1", "resource": "pods"}
		}))
		if err != nil {
			return err
		}
		return first(expect("allowed", response.Allowed, true), expect("patch", string(response.Patch), ""),
			expect("warnings", len(response.Warnings), 1), fails(fmt.Errorf("%s", response.Warnings), "fix the rules of the"))
	})
	try("two of the same get the same bytes", func() error {
		one, err := client.review(good)
		other, otherwise := client.review(good)
		return first(err, otherwise, expect("patch", string(one.Patch), string(other.Patch)))
	})
}

// podCases hold what the admission of an API server does for Admiralty.
func (s *Site) podCases(table *Table) {
	policies := s.file("samples/admiralty/policies")
	arguments := []string{"-p", policies, "--state", s.file("samples/admiralty/state")}
	s.served(table, "pods", arguments, func(server *Server) {
		at := func(door string) *APIServer {
			caller := "admiralty-target"
			if door == "/mutate/pods" {
				caller, door = "admiralty-source", ""
			}
			return must(s.newAPIServer(routeTo(server), "--for", caller, "--url", "https://"+dnsName+door, "-p", policies))
		}
		const eu, oregon = "/mutate/podchaperons/eu", "/mutate/podchaperons/oregon"
		for _, sample := range []struct {
			name, door string
			calls      int
			path       []string
			found      string
		}{
			{"01-create-pod", "/mutate/pods", 1,
				[]string{"metadata", "annotations", "reviser.io/targetpodtransformation"}, "use-v100-32G"},
			{"02-create-chaperon-eu", eu, 1, []string{"spec", "nodeSelector", "gpu-model"}, "V100"},
			{"03-create-chaperon-oregon", oregon, 1,
				[]string{"spec", "nodeSelector", "node.kubernetes.io/instance-type"}, "p3dn.24xlarge"},
			{"05-create-chaperon-plain", eu, 0, []string{"spec", "nodeSelector", "gpu-model"}, ""},
		} {
			table.try("pods: "+sample.name, func() error {
				body := must(os.ReadFile(s.file("samples/admiralty", sample.name+".json")))
				after, shown, calls, err := at(sample.door).admit(review(body))
				if err := first(err, none(shown), expect("calls", calls, sample.calls)); err != nil {
					return err
				}
				found, _, err := unstructured.NestedString(after.Object, sample.path...)
				if err := first(err, expect(strings.Join(sample.path, "."), found, sample.found)); err != nil {
					return err
				}
				direct, err := must(s.loopback(server, sample.door)).review(body)
				if err != nil || sample.calls == 0 {
					return err
				}
				patched, err := patchedByHand(direct.Patch, review(body).Request.Object.Raw)
				return first(err, same("after the plugin, unlike after the patch", after, patched))
			})
		}
		table.try("pods: 04-create-chaperon-misspelt is denied with the nearest name", func() error {
			body := must(os.ReadFile(s.file("samples/admiralty/04-create-chaperon-misspelt.json")))
			_, _, _, err := at(eu).admit(review(body))
			return first(status(err, 422, metav1.StatusReasonInvalid,
				`admission webhook "podchaperons.reviser.io" denied the request: PodChaperon/train- cluster "eu"`),
				fails(err, `the nearest names are "use-v100-32G"`))
		})
	})
}
