{{/* On everything. */}}
{{- define "reviser.labels" -}}
app.kubernetes.io/name: reviser
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Whether the release holds a server: "true", or nothing. */}}
{{- define "reviser.server" -}}
{{- if ne .Values.mode "karmada-apiserver" }}true{{ end }}
{{- end }}

{{/* Whether the server is connected by a kubeconfig. */}}
{{- define "reviser.kubeconfig" -}}
{{- if or (eq .Values.mode "karmada") (and (eq .Values.mode "admiralty-target") (eq .Values.target.from "source")) }}true{{ end }}
{{- end }}

{{/* Whether it is a target that reads files. */}}
{{- define "reviser.targetFiles" -}}
{{- if and (eq .Values.mode "admiralty-target") (eq .Values.target.from "files") }}true{{ end }}
{{- end }}

{{/* Whether policies are files. */}}
{{- define "reviser.policyFiles" -}}
{{- if and (include "reviser.server" .) (or .Values.policies (include "reviser.targetFiles" .)) }}true{{ end }}
{{- end }}

{{/* Has cert-manager write the authority into a webhook configuration. */}}
{{- define "reviser.injectedCa" -}}
{{- if eq .Values.tls.source "cert-manager" -}}
annotations:
  cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/reviser
{{- end }}
{{- end }}

{{/* The clientConfig of a webhook of this release: (dict "root" $ "path" "/...") */}}
{{- define "reviser.clientConfig" -}}
service:
  namespace: {{ .root.Release.Namespace }}
  name: reviser
  port: 443
  path: {{ .path }}
{{- if and .root.Values.tls.ca (ne .root.Values.tls.source "cert-manager") }}
caBundle: {{ .root.Values.tls.ca | b64enc }}
{{- end }}
{{- end }}
