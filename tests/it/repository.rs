//! The files around the crate: no keys among them, and no version that says something else than another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use reviser::certs::Authority;

/// What begins a PEM header. It is put together so that this file does not hold one.
const BEGIN: &str = concat!("-----", "BEGIN ");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files of the repository according to git; outside of a checkout, all files that would be in it.
fn files() -> Vec<PathBuf> {
    tracked().unwrap_or_else(|| {
        let mut found = Vec::new();
        walk(root(), &mut found);
        found
    })
}

fn tracked() -> Option<Vec<PathBuf>> {
    let mut git = Command::new("git");
    // Set where git itself runs the tests, from a hook.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(variable);
    }
    let output = git.arg("-C").arg(root()).args(["ls-files", "-z"]).output().ok()?;
    let list = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let files: Vec<PathBuf> = list.split_terminator('\0').map(|path| root().join(path)).collect();
    // Unpacked in the checkout of something else, none of our files is tracked.
    files.contains(&root().join("Cargo.toml")).then_some(files)
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let relative = path.strip_prefix(root()).unwrap().to_owned();
        // What git would ignore: builds, and what is made for development.
        let in_certs = relative.starts_with("certs") && relative != Path::new("certs");
        let ignored = in_certs && !relative.ends_with("README.md") && !relative.ends_with(".gitignore");
        if relative == Path::new("target") || relative == Path::new(".git") || ignored {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            walk(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Whether there is the header of a private key of any kind in `bytes`, be it in the base64 of a Secret.
fn holds_a_private_key(bytes: &[u8]) -> bool {
    has_key_header(bytes) || base64_of_pem(bytes).iter().any(|decoded| has_key_header(decoded))
}

fn has_key_header(bytes: &[u8]) -> bool {
    positions(bytes, BEGIN.as_bytes()).any(|start| {
        let label = &bytes[start + BEGIN.len()..];
        let length = label
            .iter()
            .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ');
        label[..length.count()].ends_with(b"PRIVATE KEY")
    })
}

/// What stands in base64 in `bytes` and begins like PEM.
fn base64_of_pem(bytes: &[u8]) -> Vec<Vec<u8>> {
    let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&STANDARD, lenient.with_decode_allow_trailing_bits(true));
    // The last characters of a text in base64 depend on what follows it.
    let encoded = engine.encode(BEGIN);
    let start = encoded.trim_end_matches('=');
    let start = &start[..start.len() - 1];
    let is_base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    positions(bytes, start.as_bytes())
        .filter_map(|position| {
            let length = bytes[position..].iter().take_while(is_base64).count() / 4 * 4;
            engine.decode(&bytes[position..position + length]).ok()
        })
        .collect()
}

fn positions<'b>(bytes: &'b [u8], needle: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    bytes.windows(needle.len()).enumerate().filter(move |(_, window)| *window == needle).map(|(at, _)| at)
}

#[test]
fn no_private_key_is_tracked() {
    let files = files();
    assert!(files.contains(&root().join("src/main.rs")), "these {} files are not ours", files.len());
    let suspicious = |path: &&PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        // A file that git tracks may be gone from the tree, and a link may lead nowhere.
        matches!(extension, Some("key" | "p12" | "pfx" | "jks"))
            || fs::read(path).is_ok_and(|bytes| holds_a_private_key(&bytes))
    };
    let found: Vec<_> = files.iter().filter(suspicious).collect();
    assert!(found.is_empty(), "private keys: {found:?}");
}

#[test]
fn a_private_key_is_found_however_it_is_written() {
    let authority = Authority::new(SystemTime::now()).unwrap();
    let (key, certificate) = (authority.key_pem(), authority.certificate_pem());
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    for label in ["", "RSA ", "EC ", "ENCRYPTED ", "OPENSSH "] {
        assert!(
            holds_a_private_key(format!("key: |\n  {BEGIN}{label}PRIVATE KEY-----\n").as_bytes()),
            "{label}"
        );
    }
    assert!(holds_a_private_key(key.as_bytes()));
    assert!(holds_a_private_key(format!("{certificate}{}", key.as_str()).as_bytes()));
    assert!(holds_a_private_key(format!("data:\n  tls.key: {}\n", encode(&key)).as_bytes()));
    assert!(holds_a_private_key(format!("{{\"key\":\"{}\"}}", encode(&key)).as_bytes()));
    assert!(!holds_a_private_key(certificate.as_bytes()));
    assert!(!holds_a_private_key(format!("caBundle: {}\n", encode(certificate)).as_bytes()));
    assert!(!holds_a_private_key(b"-----BEGIN is no header, and PRIVATE KEY neither"));
}

#[test]
fn what_is_made_in_certs_is_ignored() {
    let rules = text("certs/.gitignore");
    let rules: Vec<&str> = rules.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rules, ["*", "!.gitignore", "!README.md"]);
}

/// The value of `key = "..."` in TOML as simple as ours.
fn toml_string(text: &str, key: &str) -> String {
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
    value.unwrap_or_else(|| panic!("no {key}")).trim().trim_matches('"').to_owned()
}

#[test]
fn the_image_is_built_with_the_toolchain_of_the_repository() {
    let toolchain = toml_string(&text("rust-toolchain.toml"), "channel");
    let minimum = toml_string(&text("Cargo.toml"), "rust-version");
    assert!(toolchain == minimum || toolchain.starts_with(&format!("{minimum}.")), "{toolchain} {minimum}");

    let dockerfile = text("Dockerfile");
    let images: Vec<&str> = dockerfile.lines().filter_map(|line| line.strip_prefix("FROM ")).collect();
    let [builder, last] = images[..] else { panic!("{images:?}") };
    assert_eq!(builder, format!("docker.io/library/rust:{toolchain}-bookworm AS build"));
    // Of the same Debian, for the C library.
    assert_eq!(last, "gcr.io/distroless/cc-debian12:nonroot");
    let line = |wanted: &str| assert!(dockerfile.lines().any(|line| line.trim() == wanted), "no {wanted:?}");
    line(&format!("ARG VERSION={}", env!("CARGO_PKG_VERSION")));
    line("USER 65532:65532");
    assert!(dockerfile.contains("cargo build --profile dist --locked"));
    // `cargo bench` measures what the image holds.
    let profile = |name: &str| {
        let cargo = text("Cargo.toml");
        let (_, rest) = cargo.split_once(&format!("[profile.{name}]\n")).unwrap();
        let settings =
            rest.split("\n\n").next().unwrap().lines().filter(|line| !line.starts_with("inherits"));
        settings.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(profile("bench"), profile("dist"));
}
