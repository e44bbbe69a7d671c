//! Who may use whom: the table of ARCHITECTURE.md, held against the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What a module may use of the crate. Its own contents need not be listed.
const MAY_USE: &[(&str, &[&str])] = &[
    ("json", &[]),
    ("patch", &["json"]),
    ("domain", &["json", "patch"]),
    ("expression", &["domain", "json"]),
    ("schema", &["domain", "json"]),
    ("engine", &["domain", "expression", "json", "patch", "schema"]),
    ("policy", &["domain", "engine", "expression", "json", "patch", "schema", "yaml"]),
    ("yaml", &["json"]),
    ("documents", &["json", "yaml"]),
    ("work", &["domain", "engine", "json", "patch"]),
    ("apiserver", &["domain"]),
    ("state", &["apiserver", "documents", "domain", "json", "work", "yaml"]),
    ("service", &["domain", "engine", "json", "patch", "state", "work"]),
    ("controller", &["apiserver", "domain", "doors", "engine", "json", "service"]),
    ("certs", &[]),
    ("manifests", &["certs", "domain", "doors", "engine", "json", "yaml"]),
    ("telemetry", &["json"]),
    ("server", &["certs", "domain"]),
    ("doors", &["domain", "engine", "json", "patch", "policy", "server", "service", "state", "work"]),
    (
        "app",
        &[
            "apiserver",
            "certs",
            "controller",
            "documents",
            "domain",
            "doors",
            "engine",
            "json",
            "policy",
            "server",
            "service",
            "state",
            "yaml",
        ],
    ),
    (
        "cli",
        &[
            "apiserver",
            "app",
            "certs",
            "documents",
            "domain",
            "doors",
            "engine",
            "json",
            "manifests",
            "service",
            "state",
            "telemetry",
            "yaml",
        ],
    ),
];

/// Parts of other modules for which the same holds.
const PURE_PARTS: &[&str] = &[
    "controller/planner/",
    "controller/election/terms.rs",
    "controller/policies.rs",
    "controller/status.rs",
    "doors/admission/decode.rs",
    "doors/admission/encode.rs",
    "doors/envelope.rs",
    "doors/interpreter/decode.rs",
    "doors/interpreter/encode.rs",
    "doors/interpreter/operation.rs",
    "service/sync.rs",
];

/// The modules in which the same input must give the same output, and what they therefore must not name.
const PURE: &[&str] =
    &["json", "patch", "domain", "expression", "schema", "engine", "policy", "work", "yaml"];
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant",
    "Timestamp::now",
    "tokio",
    "axum",
    "hyper",
    "tracing",
    "rustls",
    "rand",
];

/// Libraries that only some modules may name.
const ONLY: &[(&str, &[&str])] = &[
    ("axum", &["server"]),
    ("hyper", &["server"]),
    ("rustls", &["certs", "server"]),
    ("clap", &["cli"]),
    ("anyhow", &["cli"]),
    ("json_patch", &["patch"]),
    ("saphyr_parser", &["yaml"]),
    ("cel", &["expression"]),
    ("regex_lite", &["expression"]),
    ("rcgen", &["certs"]),
    ("ring", &["domain", "server"]),
    ("kube", &["apiserver"]),
    ("prometheus_client", &["server", "doors", "controller", "app"]),
    ("redb", &["state"]),
    ("tracing_subscriber", &["telemetry"]),
    ("tracing_appender", &["telemetry"]),
];

/// The service sees the ports of `state`, not what is behind them.
const IMPLEMENTATIONS: &[&str] =
    &["state::memory", "state::file", "state::files", "state::kube", "state::snapshot"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The text of every module that is not a test, without comments and without what only tests are compiled
/// with.
fn modules() -> BTreeMap<String, Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    collect(&source(), &mut files);
    let mut modules: BTreeMap<String, Vec<(PathBuf, String)>> = BTreeMap::new();
    for path in files {
        let relative = path.strip_prefix(source()).unwrap().to_owned();
        let module = relative
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs")
            .to_owned();
        if module == "main" || module == "lib" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        modules.entry(module).or_default().push((relative, code.join("\n")));
    }
    modules
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() && name != "tests" {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}

/// The modules of the crate that `code` names: `crate::x` and `crate::{x::Y, z}`.
fn used(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (position, _) in code.match_indices("crate::") {
        let rest = &code[position + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut item = String::new();
            for character in group.chars() {
                match character {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => names.extend(head(&std::mem::take(&mut item))),
                    other if depth == 0 => item.push(other),
                    _ => {}
                }
            }
            names.extend(head(&item));
        } else {
            names.extend(head(rest));
        }
    }
    names
}

fn head(path: &str) -> Option<String> {
    let name: String = path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// Whether `code` names `path`, as a whole word.
fn names(code: &str, path: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    code.match_indices(path)
        .any(|(at, _)| edge(code[..at].chars().next_back()) && edge(code[at + path.len()..].chars().next()))
}

#[test]
fn every_module_uses_only_what_the_table_says() {
    let table: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut faults = Vec::new();
    let modules = modules();
    for (module, files) in &modules {
        let Some(allowed) = table.get(module.as_str()) else {
            faults.push(format!("{module} is not in the table"));
            continue;
        };
        for (path, code) in files {
            for name in used(code).iter().filter(|name| *name != module && !allowed.contains(&name.as_str()))
            {
                faults.push(format!("{} uses {name}", path.display()));
            }
        }
    }
    for (module, allowed) in MAY_USE {
        let Some(files) = modules.get(*module) else {
            faults.push(format!("{module} is in the table and nowhere else"));
            continue;
        };
        let all: BTreeSet<String> = files.iter().flat_map(|(_, code)| used(code)).collect();
        faults.extend(
            allowed
                .iter()
                .filter(|name| !all.contains(**name))
                .map(|name| format!("{module} does not use {name}, but may")),
        );
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_pure_modules_name_nothing_impure() {
    let mut faults = Vec::new();
    for (module, files) in &modules() {
        let is_pure = |path: &Path| {
            PURE.contains(&module.as_str()) || PURE_PARTS.iter().any(|part| path.starts_with(part))
        };
        for (path, code) in files.iter().filter(|(path, _)| is_pure(path)) {
            let found = IMPURE.iter().filter(|name| names(code, name));
            faults.extend(found.map(|name| format!("{} ({module}) names {name}", path.display())));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn libraries_stay_where_they_belong() {
    let mut faults = Vec::new();
    for (module, files) in modules() {
        for (path, code) in files {
            for (library, homes) in ONLY {
                // `state::kube` is no library.
                if names(&code.replace("state::kube::", ""), &format!("{library}::"))
                    && !homes.contains(&module.as_str())
                {
                    faults.push(format!("{} names {library}", path.display()));
                }
            }
            let hidden = IMPLEMENTATIONS.iter().filter(|path| module == "service" && names(&code, path));
            faults.extend(hidden.map(|name| format!("{} names {name}", path.display())));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_table_is_the_one_in_the_documentation() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md")).unwrap();
    for (module, allowed) in MAY_USE {
        let list = if allowed.is_empty() {
            "–".to_owned()
        } else {
            allowed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let row = format!("| `{module}` | {list} |");
        assert!(text.contains(&row), "ARCHITECTURE.md lacks the row\n{row}");
    }
}

#[test]
fn the_paths_in_the_documentation_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let paths = text.split('`').skip(1).step_by(2).filter(|span| {
        ["src/", "tests/", "manifests/", "benches/"].iter().any(|folder| span.starts_with(folder))
    });
    let missing: Vec<&str> = paths.filter(|path| !root.join(path).exists()).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn the_search_finds_what_it_is_for() {
    let code = "use crate::{a::{B, c::D}, e, f::G};\nlet x = crate::h::i();";
    assert_eq!(used(code).into_iter().collect::<Vec<_>>(), ["a", "e", "f", "h"]);
    assert!(
        names("use std::fs;", "std::fs")
            && !names("use std::fsx;", "std::fs")
            && !names("xInstant", "Instant")
    );
}
