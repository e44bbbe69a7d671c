package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Refused is an answer that says no: all that the caller then has to show.
type Refused struct {
	code    int32
	message string
}

func (r Refused) Error() string { return fmt.Sprintf("refused with %d: %s", r.code, r.message) }

// question is a recorded or written body as the caller holds it: objects are decoded, and will be encoded anew.
func question(body []byte) *ResourceInterpreterContext {
	context := &ResourceInterpreterContext{}
	ensure(json.Unmarshal(body, context))
	asked := context.Request
	for _, extension := range []*runtime.RawExtension{&asked.Object, asked.ObservedObject, asked.OriginalObject} {
		if extension != nil && extension.Raw != nil {
			*extension = runtime.RawExtension{Object: object(extension.Raw)}
		}
	}
	return context
}

// object is an object of any kind from its JSON.
func object(text []byte) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	ensure(object.UnmarshalJSON(text))
	return object
}

// interpret asks under a new uid, and judges the answer.
func (c *Client) interpret(context *ResourceInterpreterContext) (*Answer, error) {
	context.Request.UID = uuid.NewUUID()
	return c.interpretBody(context, context.Request.UID, context.Request.Operation)
}

// interpretBody asks with a body as it is.
func (c *Client) interpretBody(body any, uid types.UID, operation string) (*Answer, error) {
	reply := &ResourceInterpreterContext{}
	ctx, cancel := patient()
	defer cancel()
	if err := c.post(ctx, body, reply); err != nil {
		return nil, err
	}
	if c.wire.again() {
		return nil, fmt.Errorf("there was a Retry-After")
	}
	return judged(reply.Response, uid, operation)
}

// judged is an answer that Karmada's interpreter client would go on with. What it is an error to lack there, it is here.
//
// Source: karmada-io/karmada@f8fdd02 pkg/resourceinterpreter/customized/webhook/request/resourceinterpretercontext.go
//
// DIFFERENCE: Karmada has no ReviseObject yet, and takes an answer without a patch for one that changes nothing; older
// versions of it do not, so there has to be one.
func judged(answer *Answer, uid types.UID, operation string) (*Answer, error) {
	switch {
	case answer == nil:
		return nil, fmt.Errorf("there is no response")
	case answer.UID != uid:
		return nil, fmt.Errorf("the answer is to %q instead of %q", answer.UID, uid)
	case !answer.Successful && answer.Status == nil:
		return nil, fmt.Errorf("a refusal without a status")
	case !answer.Successful:
		return answer, Refused{answer.Status.Code, answer.Status.Message}
	}
	switch operation {
	case "InterpretReplica":
		if answer.Replicas == nil {
			return nil, fmt.Errorf("there are no replicas")
		}
	case "ReviseReplica", "ReviseObject":
		if answer.PatchType == nil || *answer.PatchType != "JSONPatch" || len(answer.Patch) == 0 {
			return nil, fmt.Errorf("patch %q of the type %v", answer.Patch, answer.PatchType)
		}
	default:
		return nil, fmt.Errorf("nobody said that %s is answered", operation)
	}
	return answer, nil
}

// applied is the object after the patch of an answer, as Karmada applies it.
func applied(before *unstructured.Unstructured, patch []byte) (*unstructured.Unstructured, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("the patch %s: %w", patch, err)
	}
	text := must(before.MarshalJSON())
	if len(operations) > 0 {
		if text, err = operations.Apply(text); err != nil {
			return nil, fmt.Errorf("the patch %s does not apply: %w", patch, err)
		}
	}
	after := &unstructured.Unstructured{}
	if err := after.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("what the patch makes is no object: %w", err)
	}
	return after, nil
}

// same fails unless both objects are equal.
func same(what string, found, expected *unstructured.Unstructured) error {
	if !reflect.DeepEqual(found.Object, expected.Object) {
		return fmt.Errorf("%s:\n%s\ninstead of\n%s", what, must(found.MarshalJSON()), must(expected.MarshalJSON()))
	}
	return nil
}

// Expected is what one question should get: a line of an `expected.json` of the golden cases.
type Expected struct {
	// A patch, or null.
	patch json.RawMessage
	// A refusal.
	Code    int32  `json:"code"`
	Message string `json:"message"`
	// Replicas, and what one needs.
	Replicas            *int32        `json:"replicas"`
	ReplicaRequirements *Requirements `json:"replicaRequirements"`
}

// UnmarshalJSON tells patches, which are lists, from the others.
func (e *Expected) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("[")) {
		e.patch = bytes.Clone(text)
		return nil
	}
	type plain Expected
	return json.Unmarshal(text, (*plain)(e))
}

// check fails unless an answer, or the error instead of one, is what is expected.
func (e *Expected) check(answer *Answer, err error) error {
	if refused, is := err.(Refused); is && e.Code != 0 {
		return first(expect("code", refused.code, e.Code), expect("message", refused.message, e.Message))
	}
	switch {
	case err != nil:
		return err
	case e.Code != 0:
		return fmt.Errorf("it was not refused with %d", e.Code)
	case e.patch != nil:
		return expect("patch", string(answer.Patch), string(e.patch))
	}
	found, expected := must(json.Marshal(answer.ReplicaRequirements)), must(json.Marshal(e.ReplicaRequirements))
	return first(expect("replicas", *answer.Replicas, *e.Replicas), expect("requirements", string(found), string(expected)))
}
