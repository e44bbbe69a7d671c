//! What docs/install.md has a user write and type.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::chart::template;
use super::root;
use crate::support::command::reviser;
use crate::support::kustomize::rendered;
use crate::support::objects::{of_kind, the};

fn text() -> String {
    std::fs::read_to_string(root().join("docs/install.md")).unwrap()
}

/// The files that are written by a here-document: name and content.
fn written() -> Vec<(String, String)> {
    let text = text();
    let files = text.split("\ncat >").skip(1).map(|rest| {
        let (name, rest) = rest.split_once(" <<'EOF'\n").unwrap();
        let (content, _) = rest.split_once("\nEOF").unwrap();
        (name.to_owned(), format!("{content}\n"))
    });
    files.collect()
}

/// A checkout in which all these files have been written.
pub(super) struct Checkout(tempfile::TempDir);

impl Checkout {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root().join("manifests"), directory.path().join("manifests")).unwrap();
        for (name, content) in written() {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        Self(directory)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Issues a pair where the document says, and gives the line that is printed.
    pub(super) fn with_certificates(&self) -> String {
        let pki = self.path("mine/pki");
        let issued =
            reviser(&["certs", "--out", pki.to_str().unwrap(), "--dns", "reviser.reviser-system.svc"]);
        assert_eq!(issued.code, Some(0), "{}", issued.stderr);
        issued.stdout
    }
}

#[test]
fn what_it_has_written_renders_with_the_image_that_it_has_built() {
    let checkout = Checkout::new();
    checkout.with_certificates();
    let names: Vec<String> = written().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    let image = format!("registry.example.com/reviser:{}", env!("CARGO_PKG_VERSION"));
    assert!(text().contains(&format!("docker push {image}\n")));
    let mut servers = 0;
    for name in names {
        let folder = Path::new(&name).parent().unwrap().to_str().unwrap();
        let Some(objects) = rendered(checkout.path(folder)) else { return };
        for deployment in of_kind(&objects, "Deployment") {
            assert_eq!(deployment["spec"]["template"]["spec"]["containers"][0]["image"], image, "{name}");
            servers += 1;
        }
    }
    assert_eq!(servers, 4);
}

#[test]
fn the_rights_for_templates_can_be_changed_as_it_says() {
    let checkout = Checkout::new();
    let (Some(mine), Some(ours)) =
        (rendered(checkout.path("mine/karmada-apiserver")), rendered("manifests/karmada/apiserver"))
    else {
        return;
    };
    // What stands there is the example.
    assert_eq!(mine, ours);
}

#[test]
fn a_target_gets_the_name_that_it_says() {
    let Some(objects) = rendered(Checkout::new().path("mine/eu")) else { return };
    let client = &the(&objects, "MutatingWebhookConfiguration")["webhooks"][0]["clientConfig"];
    assert_eq!(client["service"]["path"], "/mutate/podchaperons/eu");
}

#[test]
fn what_it_names_is_there() {
    let text = text();
    let words = text.split(|c: char| c.is_whitespace() || "`()[]'\"#|".contains(c));
    let named: Vec<&str> = words
        .map(|word| word.trim_start_matches("../").trim_end_matches(['.', ',', ':', ';']))
        .filter(|word| word.starts_with("manifests/") || word.starts_with("charts/"))
        .collect();
    assert!(named.len() > 10, "{named:?}");
    for name in named {
        assert!(root().join(name).exists(), "{name}");
    }
}

/// The words after each of these options in a line.
fn after<'l>(line: &'l str, option: &str) -> Vec<&'l str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1].trim_matches(['`', '.'])).collect()
}

#[test]
fn helm_takes_the_values_that_it_sets() {
    let text = text().replace("\\\n", " ");
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains("helm ") && line.contains(" install ")).collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for line in lines {
        let values = after(line, "--set");
        let rendered: Option<Result<Vec<Value>, String>> = template(&values, &[]);
        let Some(rendered) = rendered else { return };
        rendered.unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

#[test]
fn the_commands_of_the_program_are_taken() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let replace = |word: &str| match word {
        "ca.crt" => at("mine/pki/ca.crt"),
        "policies/" => root().join("manifests/examples").to_str().unwrap().to_owned(),
        "mine/pki" => at("mine/pki"),
        "https://HOST:PORT/mutate/podchaperons/eu" => {
            "https://10.0.0.1:8443/mutate/podchaperons/eu".to_owned()
        }
        word => word.to_owned(),
    };
    let text = text();
    let mut commands: Vec<Vec<String>> = text
        .split(['\n', '`'])
        .filter_map(|part| part.strip_prefix("reviser "))
        .filter(|part| part.contains(" --") || part.contains(" -p"))
        .map(|part| part.split('|').next().unwrap().split_whitespace().map(replace).collect())
        .collect();
    // Certificates come first, as they do there, and once by force.
    commands.sort_by_key(|command| (command[0] != "certs", command.contains(&"--force".to_owned())));
    commands.dedup();
    assert!(commands.len() > 5, "{commands:?}");
    for command in commands {
        let ran = reviser(&command);
        assert_eq!(ran.code, Some(0), "{command:?}: {}", ran.stderr);
    }
}
