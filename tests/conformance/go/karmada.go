package main

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The wire format of config.karmada.io/v1alpha1, as far as callers use it. Declared here, because Karmada is no dependency.

var karmadaVersion = schema.GroupVersion{Group: "config.karmada.io", Version: "v1alpha1"}

// installKarmada makes a scheme know the types below.
func installKarmada(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(karmadaVersion, &ResourceInterpreterContext{})
	metav1.AddToGroupVersion(scheme, karmadaVersion)
	return nil
}

// ResourceInterpreterContext is a question to an interpreter, or its answer.
type ResourceInterpreterContext struct {
	metav1.TypeMeta `json:",inline"`

	Request  *Question `json:"request,omitempty"`
	Response *Answer   `json:"response,omitempty"`
}

// DeepCopyObject makes it a runtime.Object.
func (c *ResourceInterpreterContext) DeepCopyObject() runtime.Object {
	copied := &ResourceInterpreterContext{}
	ensure(json.Unmarshal(must(json.Marshal(c)), copied))
	return copied
}

// Question is what an interpreter is asked.
type Question struct {
	UID              types.UID               `json:"uid"`
	Kind             metav1.GroupVersionKind `json:"kind"`
	Name             string                  `json:"name"`
	Namespace        string                  `json:"namespace,omitempty"`
	Operation        string                  `json:"operation"`
	Object           runtime.RawExtension    `json:"object,omitempty"`
	ObservedObject   *runtime.RawExtension   `json:"observedObject,omitempty"`
	Replicas         *int32                  `json:"replicas,omitempty"`
	AggregatedStatus []ClusterStatus         `json:"aggregatedStatus,omitempty"`

	// What ReviseObject adds.
	OriginalObject *runtime.RawExtension `json:"originalObject,omitempty"`
	ClusterName    string                `json:"clusterName,omitempty"`
	TargetClusters []TargetCluster       `json:"targetClusters,omitempty"`
}

// TargetCluster is a part of a schedule.
type TargetCluster struct {
	Name     string `json:"name"`
	Replicas int32  `json:"replicas,omitempty"`
}

// ClusterStatus is what a cluster reported.
type ClusterStatus struct {
	ClusterName    string                `json:"clusterName"`
	Status         *runtime.RawExtension `json:"status,omitempty"`
	Applied        bool                  `json:"applied,omitempty"`
	AppliedMessage string                `json:"appliedMessage,omitempty"`
	Health         string                `json:"health,omitempty"`
}

// Answer is what an interpreter answers.
type Answer struct {
	UID        types.UID `json:"uid"`
	Successful bool      `json:"successful"`
	Status     *struct {
		Message string `json:"message,omitempty"`
		Code    int32  `json:"code,omitempty"`
	} `json:"status,omitempty"`
	Patch               []byte                `json:"patch,omitempty"`
	PatchType           *string               `json:"patchType,omitempty"`
	Replicas            *int32                `json:"replicas,omitempty"`
	ReplicaRequirements *Requirements         `json:"replicaRequirements,omitempty"`
	Components          []Component           `json:"components,omitempty"`
	Dependencies        []Dependency          `json:"dependencies,omitempty"`
	RawStatus           *runtime.RawExtension `json:"rawStatus,omitempty"`
	Healthy             *bool                 `json:"healthy,omitempty"`
}

// Requirements are what one replica needs.
type Requirements struct {
	NodeClaim *struct {
		HardNodeAffinity *corev1.NodeSelector `json:"hardNodeAffinity,omitempty"`
		NodeSelector     map[string]string    `json:"nodeSelector,omitempty"`
		Tolerations      []corev1.Toleration  `json:"tolerations,omitempty"`
	} `json:"nodeClaim,omitempty"`
	ResourceRequest   corev1.ResourceList `json:"resourceRequest,omitempty"`
	Namespace         string              `json:"namespace,omitempty"`
	PriorityClassName string              `json:"priorityClassName,omitempty"`
}

// Component is a part of a workload that has replicas of its own.
type Component struct {
	Name                string        `json:"name"`
	Replicas            int32         `json:"replicas"`
	ReplicaRequirements *Requirements `json:"replicaRequirements,omitempty"`
}

// Dependency is what goes where the workload goes.
type Dependency struct {
	APIVersion    string                `json:"apiVersion"`
	Kind          string                `json:"kind"`
	Namespace     string                `json:"namespace,omitempty"`
	Name          string                `json:"name,omitempty"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}
