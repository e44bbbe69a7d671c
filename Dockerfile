# syntax=docker/dockerfile:1

# The version is that of rust-toolchain.toml; a test compares them. The Debian release is that of the second stage, because
# the binary needs the C library that it was linked with.
FROM docker.io/library/rust:1.95.0-bookworm AS build
WORKDIR /source
# Without rust-toolchain.toml, with which rustup would install clippy and rustfmt.
COPY Cargo.toml Cargo.lock ./
COPY src src
COPY benches benches
COPY manifests/examples manifests/examples
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --profile dist --locked --bin reviser && cp target/dist/reviser /reviser

FROM gcr.io/distroless/cc-debian12:nonroot
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="reviser" \
      org.opencontainers.image.description="Gives every member cluster its own version of a workload" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY LICENSE /LICENSE
COPY --from=build /reviser /reviser
# With an arena for each thread, the C library keeps what reading large state files has needed in each of them.
ENV MALLOC_ARENA_MAX=1
# By number, so that `runAsNonRoot` can be checked. It is the user `nonroot` of the image.
USER 65532:65532
# HTTPS: the doors, and the probes /livez and /readyz.
EXPOSE 8443
# Plain HTTP: the probes and /metrics. On 127.0.0.1, and so out of reach, unless --admin-bind-address says otherwise.
EXPOSE 8080
ENTRYPOINT ["/reviser"]
CMD ["serve"]
