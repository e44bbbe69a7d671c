package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	"k8s.io/apiserver/pkg/authentication/user"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

// APIServer is the mutating admission of one: the real plugin with a webhook configuration of ours, and nothing around it.
// What it does not have is storage, schemas and authentication; tests/cluster has those.
type APIServer struct {
	plugin *mutating.Plugin
	wire   *wire
}

// newAPIServer has the configuration that `reviser manifests` prints with these arguments.
func (s *Site) newAPIServer(route Route, arguments ...string) (*APIServer, error) {
	arguments = append([]string{"manifests", "--ca-file", s.certificates.folder + "/ca.crt"}, arguments...)
	text, err := s.output(nil, arguments...)
	if err != nil {
		return nil, err
	}
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := yaml.UnmarshalStrict(text, configuration); err != nil {
		return nil, err
	}
	for at := range configuration.Webhooks {
		// As an API server stores what does not say: everything is selected. The plugin would take it for nothing.
		hook := &configuration.Webhooks[at]
		if hook.NamespaceSelector == nil {
			hook.NamespaceSelector = &metav1.LabelSelector{}
		}
		if hook.ObjectSelector == nil {
			hook.ObjectSelector = &metav1.LabelSelector{}
		}
	}
	objects := []runtime.Object{configuration}
	for _, name := range []string{"karmada-es-cluster-x", "karmada-es-cluster-z", "research"} {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	plugin, err := mutating.NewMutatingWebhook(nil)
	if err != nil {
		return nil, err
	}
	route.wire = &wire{}
	plugin.SetAuthenticationInfoResolverWrapper(
		func(webhookutil.AuthenticationInfoResolver) webhookutil.AuthenticationInfoResolver { return route },
	)
	plugin.SetServiceResolver(route)
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	plugin.SetExternalKubeClientSet(client)
	plugin.SetExternalKubeInformerFactory(factory)
	if err := plugin.ValidateInitialization(); err != nil {
		return nil, err
	}
	factory.Start(make(chan struct{}))
	factory.WaitForCacheSync(make(chan struct{}))
	if !plugin.WaitForReady() {
		return nil, fmt.Errorf("the plugin never got its configuration")
	}
	return &APIServer{plugin, route.wire}, nil
}

// review is a recorded or written body.
func review(body []byte) *admissionv1.AdmissionReview {
	review := &admissionv1.AdmissionReview{}
	ensure(json.Unmarshal(body, review))
	return review
}

// held is an object of a review, or none.
func held(extension runtime.RawExtension) *unstructured.Unstructured {
	if len(extension.Raw) == 0 || string(extension.Raw) == "null" {
		return nil
	}
	return object(extension.Raw)
}

// warnings are what a user would be shown.
type warnings struct {
	sync.Mutex
	texts []string
}

// AddWarning implements warning.Recorder.
func (w *warnings) AddWarning(_, text string) {
	w.Lock()
	defer w.Unlock()
	w.texts = append(w.texts, text)
}

// admit does what a review is about once more: the object as it would be stored, the warnings, and how often a webhook
// was called.
func (a *APIServer) admit(review *admissionv1.AdmissionReview) (*unstructured.Unstructured, []string, int, error) {
	asked := review.Request
	object, old := held(asked.Object), held(asked.OldObject)
	options := map[admissionv1.Operation]runtime.Object{
		admissionv1.Create: &metav1.CreateOptions{}, admissionv1.Update: &metav1.UpdateOptions{},
		admissionv1.Delete: &metav1.DeleteOptions{},
	}[asked.Operation]
	resource := schema.GroupVersionResource(asked.Resource)
	kind := schema.GroupVersionKind(asked.Kind)
	name := asked.Name
	attributes := admission.NewAttributesRecord(orNil(object), orNil(old), kind, asked.Namespace, name, resource, "",
		admission.Operation(asked.Operation), options, asked.DryRun != nil && *asked.DryRun, &user.DefaultInfo{Name: "conformance"})
	shown := &warnings{}
	ctx, cancel := context.WithTimeout(warning.WithWarningRecorder(context.Background(), shown), 20*time.Second)
	defer cancel()
	before := a.wire.count
	err := a.plugin.Admit(ctx, attributes, admission.NewObjectInterfacesFromScheme(runtime.NewScheme()))
	if a.wire.again() {
		err = fmt.Errorf("there was a Retry-After; and %w", err)
	}
	return object, shown.texts, a.wire.count - before, err
}

// orNil is nil for no object, and not an interface that holds a nil.
func orNil(object *unstructured.Unstructured) runtime.Object {
	if object == nil {
		return nil
	}
	return object
}

// review sends a body as it is, and verifies the reply as an API server does.
func (c *Client) review(body []byte) (*request.AdmissionResponse, error) {
	ctx, cancel := patient()
	defer cancel()
	reply := &admissionv1.AdmissionReview{}
	if err := c.post(ctx, body, reply); err != nil {
		return nil, err
	}
	return request.VerifyAdmissionResponse(review(body).Request.UID, true, reply)
}
