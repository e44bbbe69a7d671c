# The commands of this repository in one place; `make ci` is all that CI runs.

CARGO ?= cargo

.DEFAULT_GOAL := build
.PHONY: build test lint fmt doc bench certs run ci

build:
	$(CARGO) build --locked

test:
	$(CARGO) test --locked

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings

fmt:
	$(CARGO) fmt

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps

bench:
	$(CARGO) bench --locked --bench cost

# A certificate authority and a server certificate for this machine; see certs/README.md.
certs:
	$(CARGO) run --locked -- certs --out certs --dns localhost --ip 127.0.0.1

certs/tls.crt:
	$(MAKE) certs

# The built-in example on https://localhost:8443.
run: certs/tls.crt
	$(CARGO) run --locked -- serve --cert-dir certs

ci:
	bash .ci/run
