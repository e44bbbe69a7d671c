//! `ConfigMaps` and `Secrets`.

use super::field::{Field, Report};
use super::syntax::CONFIG_KEY;

/// For all values together.
const MOST_BYTES: usize = 1024 * 1024;

pub(super) fn config_map(object: &Field<'_>, report: &mut Report) {
    let (data, binary) = (object.get("data"), object.get("binaryData"));
    let bytes = keys(&data, report) + keys(&binary, report) / 4 * 3;
    let known = binary.map().map(crate::json::Object::index);
    for (key, value) in data.entries() {
        if known.as_ref().is_some_and(|known| known.get(key).is_some()) {
            report.add(&value, "is in `binaryData` too; remove one of the two");
        }
    }
    size(object, bytes, report);
}

pub(super) fn secret(object: &Field<'_>, report: &mut Report) {
    let (data, text) = (object.get("data"), object.get("stringData"));
    let bytes = keys(&data, report) / 4 * 3 + keys(&text, report);
    size(object, bytes, report);
    let needed: &[&str] = match object.get("type").text() {
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        _ => &[],
    };
    let has = |key: &str| data.get(key).is_set() || text.get(key).is_set();
    if object.get("type").text() == "kubernetes.io/basic-auth" && !has("username") && !has("password") {
        report.add(&data, "has neither `username` nor `password`; give one of them");
    }
    for key in needed {
        if !has(key) {
            report.add(&data.get(key), "is missing, and is required for a Secret of this type; set it");
        }
    }
}

/// Checks the keys, and counts the bytes of the values.
fn keys(data: &Field<'_>, report: &mut Report) -> usize {
    let mut bytes = 0;
    for (key, value) in data.entries() {
        if key.is_empty() || !(CONFIG_KEY.holds)(key) {
            report.misspelt(&value, key, &CONFIG_KEY);
        }
        bytes += value.text().len();
    }
    bytes
}

fn size(object: &Field<'_>, bytes: usize, report: &mut Report) {
    if bytes > MOST_BYTES {
        let problem =
            format!("has about {bytes} bytes of data, of {MOST_BYTES} that are allowed; write less into it");
        report.add(object, problem);
    }
}
