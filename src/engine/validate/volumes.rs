//! Volumes of a pod, and their mounts.

use std::collections::{HashMap, HashSet};

use super::environment;
use super::field::{Field, Report};
use super::metadata;
use super::pod::Host;
use super::storage;
use super::syntax::{
    ABSOLUTE_PATH, DNS_LABEL, DNS_SUBDOMAIN, DRIVER, FILE_PATH, NO_BACKSTEPS, RELATIVE_PATH,
};
use crate::domain::Quantity;
use crate::json::Value;

const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "persistentVolumeClaim",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "downwardAPI",
    "fc",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// The sources of a projected volume.
const PROJECTIONS: [&str; 6] =
    ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];

/// Fields of a pod that a file can contain.
const FIELDS: [&str; 5] =
    ["metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"];

/// The volumes of a pod by name, each with whether it is a claim, which can be a block device.
#[derive(Debug)]
pub(super) struct Volumes<'n>(HashMap<&'n str, bool>);

impl<'n> Volumes<'n> {
    /// The volumes of a pod, and those made from `claims`.
    pub(super) fn of(spec: &'n Field<'n>, claims: Option<&'n Field<'n>>) -> Self {
        let list = |value: Option<&'n Value<'n>>| value.and_then(Value::as_array).unwrap_or_default();
        let own = list(spec.value.and_then(|spec| spec.get("volumes"))).iter().filter_map(|volume| {
            let is_set = |name| volume.get(name).is_some_and(|source| !source.is_null());
            let is_claim = is_set("persistentVolumeClaim") || is_set("ephemeral");
            Some((volume.get("name")?.as_str()?, is_claim))
        });
        let claimed = list(claims.and_then(|claims| claims.value))
            .iter()
            .filter_map(|claim| Some((claim.get("metadata")?.get("name")?.as_str()?, true)));
        Self(own.chain(claimed).collect())
    }
}

/// Checks `volumes`.
pub(super) fn volumes(volumes: &Field<'_>, host: Host<'_>, report: &mut Report) {
    let mut names = HashSet::new();
    for volume in volumes.items() {
        let name = volume.get("name");
        report.required_as(&name, &DNS_LABEL);
        report.unique(&name, &mut names, "name");
        // A volume without a source is an emptyDir.
        if let Some(source) = report.at_most_one(&volume, &SOURCES, "a volume") {
            self::source(source, &volume.get(source), host, report);
        }
    }
}

fn source(name: &str, source: &Field<'_>, host: Host<'_>, report: &mut Report) {
    match name {
        "emptyDir" => {
            let limit = source.get("sizeLimit");
            if limit.quantity().is_some_and(|limit| limit < Quantity::ZERO) {
                report.add(&limit, "is negative; give 0 or more");
            }
        }
        "hostPath" => {
            report.required_as(&source.get("path"), &NO_BACKSTEPS);
            report.one_of(
                &source.get("type"),
                &[
                    "DirectoryOrCreate",
                    "Directory",
                    "FileOrCreate",
                    "File",
                    "Socket",
                    "CharDevice",
                    "BlockDevice",
                ],
            );
        }
        "secret" => {
            report.required(&source.get("secretName"));
            files(source, report);
        }
        "configMap" => {
            report.required(&source.get("name"));
            files(source, report);
        }
        "persistentVolumeClaim" => report.required(&source.get("claimName")),
        "nfs" => {
            report.required(&source.get("server"));
            report.required_as(&source.get("path"), &ABSOLUTE_PATH);
        }
        "csi" => {
            report.required_as(&source.get("driver"), &DRIVER);
            let secret = source.get("nodePublishSecretRef");
            if secret.is_set() {
                report.required_as(&secret.get("name"), &DNS_SUBDOMAIN);
            }
        }
        "ephemeral" => {
            let template = source.get("volumeClaimTemplate");
            if template.is_set() {
                metadata::metadata(&template.get("metadata"), report);
                storage::claim_spec(&template.get("spec"), report);
            } else {
                report.required(&template);
            }
        }
        "downwardAPI" => {
            mode(&source.get("defaultMode"), report);
            for item in source.get("items").items() {
                shown(&item, report);
            }
        }
        "projected" => projected(source, report),
        "image" => {
            report.one_of(&source.get("pullPolicy"), &["Always", "IfNotPresent", "Never"]);
            if host.is_pod {
                report.required(&source.get("reference"));
            }
        }
        _ => {}
    }
}

fn projected(source: &Field<'_>, report: &mut Report) {
    mode(&source.get("defaultMode"), report);
    let mut paths = HashSet::new();
    for projection in source.get("sources").items() {
        let Some(name) = report.at_most_one(&projection, &PROJECTIONS, "a source") else { continue };
        let chosen = projection.get(name);
        match name {
            "secret" | "configMap" => {
                report.required(&chosen.get("name"));
                files(&chosen, report);
            }
            "downwardAPI" => chosen.get("items").items().for_each(|item| shown(&item, report)),
            "serviceAccountToken" => {
                report.required_as(&chosen.get("path"), &FILE_PATH);
                report.range(&chosen.get("expirationSeconds"), 600, 1 << 32);
            }
            _ => {}
        }
        for item in chosen.get("items").items() {
            report.unique(&item.get("path"), &mut paths, "path");
        }
    }
}

/// Checks which files are made of a `Secret` or `ConfigMap`.
fn files(source: &Field<'_>, report: &mut Report) {
    mode(&source.get("defaultMode"), report);
    for item in source.get("items").items() {
        report.required(&item.get("key"));
        report.required_as(&item.get("path"), &FILE_PATH);
        mode(&item.get("mode"), report);
    }
}

/// Checks a file that contains a field of the pod.
fn shown(item: &Field<'_>, report: &mut Report) {
    report.required_as(&item.get("path"), &FILE_PATH);
    mode(&item.get("mode"), report);
    match report.at_most_one(item, &["fieldRef", "resourceFieldRef"], "a file") {
        None => report.add(item, "shows nothing; give `fieldRef` or `resourceFieldRef`"),
        Some("fieldRef") => environment::field(&item.get("fieldRef"), &FIELDS, report),
        Some(_) => {
            let resource = item.get("resourceFieldRef");
            report.required(&resource.get("containerName"));
            environment::resource(&resource, report);
        }
    }
}

fn mode(mode: &Field<'_>, report: &mut Report) {
    report.range(mode, 0, 0o777);
}

/// Checks `volumeMounts` and `volumeDevices` of a container.
pub(super) fn mounts(container: &Field<'_>, volumes: &Volumes<'_>, report: &mut Report) {
    let devices = container.get("volumeDevices");
    let as_devices: HashSet<String> =
        devices.items().map(|device| device.get("name").text().to_owned()).collect();
    let mut paths = HashSet::new();
    for mount in container.get("volumeMounts").items() {
        let (name, path) = (mount.get("name"), mount.get("mountPath"));
        known(&name, volumes, report);
        report.required(&path);
        report.unique(&path, &mut paths, "path");
        if !name.is_blank() && as_devices.contains(name.text()) {
            report.add(&name, "is in `volumeDevices` too; remove one of the two");
        }
        let (sub, expression) = (mount.get("subPath"), mount.get("subPathExpr"));
        report.spelled(&sub, &RELATIVE_PATH);
        report.spelled(&expression, &RELATIVE_PATH);
        if !sub.is_blank() && !expression.is_blank() {
            report.add(&expression, "is set together with `subPath`; remove one of the two");
        }
        propagation(&mount, container, report);
    }
    let mut names = HashSet::new();
    for device in devices.items() {
        let (name, path) = (device.get("name"), device.get("devicePath"));
        if known(&name, volumes, report) && volumes.0.get(name.text()) == Some(&false) {
            report.add(&name, format!("{:?} is no claim, and no block device; mount it", name.text()));
        }
        report.unique(&name, &mut names, "name");
        report.required(&path);
        report.unique(&path, &mut paths, "path");
        report.spelled(&path, &NO_BACKSTEPS);
    }
}

/// Refuses a volume that does not exist.
fn known(name: &Field<'_>, volumes: &Volumes<'_>, report: &mut Report) -> bool {
    report.required(name);
    let is_known = name.is_blank() || volumes.0.contains_key(name.text());
    if !is_known {
        let problem = format!(
            "there is no volume {:?} in the pod; add it to `volumes`, or remove the mount",
            name.text()
        );
        report.add(name, problem);
    }
    is_known
}

fn propagation(mount: &Field<'_>, container: &Field<'_>, report: &mut Report) {
    let (propagation, recursive) = (mount.get("mountPropagation"), mount.get("recursiveReadOnly"));
    report.one_of_these(&propagation, &["None", "HostToContainer", "Bidirectional"]);
    if propagation.text() == "Bidirectional" && !container.at(&["securityContext", "privileged"]).is_true() {
        report.add(
            &propagation,
            "is Bidirectional, which only privileged containers can have; use HostToContainer",
        );
    }
    report.one_of(&recursive, &["Disabled", "IfPossible", "Enabled"]);
    if matches!(recursive.text(), "Enabled" | "IfPossible") && !mount.get("readOnly").is_true() {
        report.add(&recursive, "needs `readOnly: true`; set that, or remove this");
    }
}
