//! `reviser certs`.

use std::path::Path;
use std::time::SystemTime;

use base64::Engine as _;

use super::args::CertsArgs;
use super::exit::CliError;
use super::output;
use crate::certs::{self, Authority, NewFile, Pem, SubjectNames};

const FILES: [&str; 4] = ["ca.crt", "ca.key", "tls.crt", "tls.key"];

pub(super) fn run(arguments: &CertsArgs) -> Result<(), CliError> {
    let directory = &arguments.out;
    let present: Vec<&str> = FILES.into_iter().filter(|name| directory.join(name).exists()).collect();
    if !present.is_empty() && !arguments.force {
        return Err(CliError::Usage(format!(
            "{} already has {}; --force replaces the server certificate and keeps an existing authority",
            directory.display(),
            present.join(", ")
        )));
    }
    let now = SystemTime::now();
    let authority = match ["ca.crt", "ca.key"].map(|name| present.contains(&name)) {
        [true, true] => read_authority(directory, now)?,
        [false, false] => Authority::new(now).map_err(CliError::failed)?,
        // Replacing the authority would break every client that trusts it.
        [has_certificate, _] => {
            let (present, missing) =
                if has_certificate { ("ca.crt", "ca.key") } else { ("ca.key", "ca.crt") };
            return Err(CliError::Usage(format!(
                "{} has {present} but no {missing}; restore {missing}, or move {present} away to create a new authority",
                directory.display()
            )));
        }
    };
    let names = SubjectNames { dns: arguments.dns.clone(), ips: arguments.ip.clone() };
    let pair = authority.issue_server(&names, now).map_err(CliError::failed)?;
    let ca_key = authority.key_pem();
    let files = [
        NewFile { name: "ca.crt", contents: authority.certificate_pem().as_bytes(), secret: false },
        NewFile { name: "ca.key", contents: ca_key.as_bytes(), secret: true },
        NewFile { name: "tls.crt", contents: pair.certificate.as_bytes(), secret: false },
        NewFile { name: "tls.key", contents: pair.key.as_bytes(), secret: true },
    ];
    certs::write_files(directory, &files, arguments.force).map_err(CliError::failed)?;
    output::note(&format!("wrote {} to {}", FILES.join(", "), directory.display()));
    let bundle = base64::engine::general_purpose::STANDARD.encode(authority.certificate_pem());
    output::write(format!("caBundle: {bundle}\n").as_bytes())
}

fn read_authority(directory: &Path, now: SystemTime) -> Result<Authority, CliError> {
    let (certificate, key) = (directory.join("ca.crt"), directory.join("ca.key"));
    let read = |path: &Path| certs::read_pem(path).map_err(CliError::failed);
    let (certificate_bytes, key_bytes) = (read(&certificate)?, read(&key)?);
    Authority::from_pem(
        Pem { path: &certificate, bytes: &certificate_bytes },
        Pem { path: &key, bytes: &key_bytes },
        now,
    )
    .map_err(CliError::failed)
}
