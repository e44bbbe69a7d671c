//go:build tools

// Package helm names what is built, so that `go mod tidy` keeps what it needs.
package helm

import _ "helm.sh/helm/v4/cmd/helm"
