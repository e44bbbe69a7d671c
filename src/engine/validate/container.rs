//! Containers of a pod.

use std::collections::HashSet;

use super::environment;
use super::field::{Field, Report};
use super::pod::Host;
use super::probes;
use super::resources::{self, Bearer};
use super::security;
use super::syntax::{DNS_LABEL, PORT_NAME};
use super::volumes::{self, Volumes};

pub(super) fn containers(spec: &Field<'_>, volumes: &Volumes<'_>, host: Host<'_>, report: &mut Report) {
    let list = spec.get("containers");
    report.not_empty(&list, "container");
    let mut names = HashSet::new();
    let mut ports = HashSet::new();
    for container in list.items() {
        common(&container, spec, volumes, host, report);
        report.unique(&container.get("name"), &mut names, "name");
        probes::all(&container, spec, report);
        host_ports(&container, spec, host, &mut ports, report);
    }
    for container in spec.get("initContainers").items() {
        common(&container, spec, volumes, host, report);
        report.unique(&container.get("name"), &mut names, "name");
        // Without `restartPolicy` they run one after another, so that they can use the same ports.
        host_ports(&container, spec, host, &mut HashSet::new(), report);
        if container.get("restartPolicy").text() == "Always" {
            probes::all(&container, spec, report);
            continue;
        }
        for name in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            report.forbidden(&container.get(name), "for an init container without `restartPolicy: Always`");
        }
    }
    for container in spec.get("ephemeralContainers").items() {
        common(&container, spec, volumes, host, report);
        report.unique(&container.get("name"), &mut names, "name");
    }
}

/// Rules for containers of all types.
fn common(
    container: &Field<'_>,
    spec: &Field<'_>,
    volumes: &Volumes<'_>,
    host: Host<'_>,
    report: &mut Report,
) {
    report.required_as(&container.get("name"), &DNS_LABEL);
    let image = container.get("image");
    report.required(&image);
    // Some templates have a blank image that is replaced later.
    let (text, bare) = (image.text(), image.text().trim());
    if text != bare && (host.is_pod || !bare.is_empty()) {
        report.add(&image, format!("{text:?} has space at an end; remove it"));
    }
    report.one_of(&container.get("imagePullPolicy"), &["Always", "IfNotPresent", "Never"]);
    report.one_of(&container.get("terminationMessagePolicy"), &["File", "FallbackToLogsOnError"]);
    report.one_of(&container.get("restartPolicy"), &["Always", "OnFailure", "Never"]);
    ports(&container.get("ports"), report);
    environment::variables(&container.get("env"), report);
    environment::sources(&container.get("envFrom"), report);
    volumes::mounts(container, volumes, report);
    resources::resources(&container.get("resources"), Bearer::Container, report);
    resize(&container.get("resizePolicy"), spec, report);
    security::container(&container.get("securityContext"), spec, report);
}

pub(super) const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];

pub(super) fn protocol(port: &Field<'_>, report: &mut Report) {
    report.one_of(&port.get("protocol"), &PROTOCOLS);
}

fn ports(ports: &Field<'_>, report: &mut Report) {
    let mut names = HashSet::new();
    for port in ports.items() {
        let name = port.get("name");
        report.spelled(&name, &PORT_NAME);
        report.unique(&name, &mut names, "name");
        let number = port.get("containerPort");
        report.required_range(&number, 1, 65535);
        // 0 means unset.
        report.range(&port.get("hostPort"), 0, 65535);
        protocol(&port, report);
    }
}

/// Refuses host ports that are used twice, or that can't be used.
fn host_ports(
    container: &Field<'_>,
    spec: &Field<'_>,
    host: Host<'_>,
    taken: &mut HashSet<(String, String, i64)>,
    report: &mut Report,
) {
    let is_on_host = spec.get("hostNetwork").is_true();
    for port in container.get("ports").items() {
        let (on_host, number) = (port.get("hostPort"), port.get("containerPort").integer());
        let given = on_host.integer().filter(|number| *number != 0);
        if is_on_host && given.is_some() && given != number {
            report.add(
                &on_host,
                "must be the `containerPort` where `hostNetwork` is true; set it to that, or remove it",
            );
        }
        let Some(used) = given.or_else(|| number.filter(|_| is_on_host && host.is_pod)) else { continue };
        let protocol = port.get("protocol");
        let protocol = if protocol.is_blank() { "TCP" } else { protocol.text() };
        if !taken.insert((protocol.to_owned(), port.get("hostIP").text().to_owned(), used)) {
            report.add(
                &on_host,
                format!("{used}/{protocol} is taken by another port of the pod; use another one"),
            );
        }
    }
}

fn resize(policies: &Field<'_>, spec: &Field<'_>, report: &mut Report) {
    let mut names = HashSet::new();
    for policy in policies.items() {
        let (name, restart) = (policy.get("resourceName"), policy.get("restartPolicy"));
        report.required(&name);
        report.one_of(&name, &["cpu", "memory"]);
        report.required(&restart);
        report.one_of(&restart, &["NotRequired", "RestartContainer"]);
        report.unique(&name, &mut names, "resource");
        if spec.get("restartPolicy").text() == "Never" && restart.text() == "RestartContainer" {
            report.add(
                &restart,
                "must be NotRequired where the `restartPolicy` of the pod is Never; make it that",
            );
        }
    }
}
