//! The lines for `curl` in the documents, run as they stand there, against a server started as the document
//! says.

use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::spawned::Spawned;

/// The default address of the server, as in the commands.
const PORT: &str = ":8443/";

/// A command, and the output that is shown below it.
#[derive(Debug, PartialEq)]
struct Step {
    command: String,
    output: String,
    /// The text of the block of JSON after it, if the next block is one.
    json: Option<String>,
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The `$ curl` lines in the `console` blocks of a document. A backslash at the end goes on in the next line.
fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = document.lines();
    while let Some(opening) = lines.next() {
        let Some(language) = opening.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match language {
            "console" => steps.extend(console(&block)),
            "json" => {
                if let Some(step) = steps.last_mut().filter(|step| step.json.is_none()) {
                    step.json = Some(block.join("\n"));
                }
            }
            _ => {}
        }
    }
    steps
}

fn console(block: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut of_curl = false;
    let mut lines = block.iter();
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix("$ ") {
            of_curl = command.starts_with("curl ");
            let mut command = command.to_owned();
            while command.ends_with('\\') {
                command.push('\n');
                command.push_str(lines.next().unwrap());
            }
            if of_curl {
                steps.push(Step { command, output: String::new(), json: None });
            }
        } else if let Some(step) = steps.last_mut().filter(|_| of_curl) {
            step.output.push_str(line);
            step.output.push('\n');
        }
    }
    steps
}

/// Runs what the document says, in its order, and checks that it says the truth. `arguments` are those of the
/// server.
fn run(document: &str, arguments: &[&str], steps: &[Step]) {
    let mut server = Spawned::start(arguments);
    for Step { command, output, .. } in steps {
        let command = command.replace(PORT, &format!(":{}/", server.secure.port()));
        let done = Command::new("sh").args(["-c", &command]).current_dir(repository()).output().unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{document}: {command}\n{stdout}{stderr}");
        assert_eq!(stdout.trim_end(), output.trim_end(), "{document}: {command}\n{stderr}");
    }
    assert!(server.runs());
}

#[expect(clippy::print_stdout, reason = "the test runner shows what a test prints")]
fn skipped(why: &str) {
    println!("skipped: {why}");
}

fn curl_is_there() -> bool {
    let there = Command::new("curl").arg("--version").output().is_ok_and(|done| done.status.success());
    if !there {
        skipped("there is no curl here to run the lines with");
    }
    there
}

/// The samples in a folder: their document, and the arguments that it starts the server with.
const SAMPLES: [(&str, &[&str]); 3] = [
    ("samples", &[]),
    ("samples/works", &["--state", "samples/works/state"]),
    ("samples/admiralty", &["-p", "samples/admiralty/policies", "--state", "samples/admiralty/state"]),
];

fn samples(folder: &str) -> (String, Vec<Step>) {
    let document = format!("{folder}/README.md");
    let text = std::fs::read_to_string(repository().join(&document)).unwrap();
    (text.clone(), steps(&text))
}

#[test]
fn the_lines_of_the_samples_give_what_is_shown_below_them() {
    let curl = curl_is_there();
    for (folder, arguments) in SAMPLES {
        let (text, steps) = samples(folder);
        let start = format!("```sh\n{}\n```\n", [&["reviser", "serve"], arguments].concat().join(" "));
        assert!(text.contains(&start), "{folder}: {start}");
        let mut files: Vec<String> = std::fs::read_dir(repository().join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        files.sort();
        assert!(!files.is_empty());
        assert_eq!(steps.len(), files.len(), "{folder}: a line for each sample");
        for (step, file) in steps.iter().zip(&files) {
            assert!(step.command.contains(&format!("@{folder}/{file} ")), "{file}: {}", step.command);
        }
        if curl {
            run(folder, arguments, &steps);
        }
    }
}

#[test]
fn the_patches_of_the_samples_are_shown_decoded() {
    for (folder, _) in SAMPLES {
        for step in samples(folder).1 {
            let reply: serde_json::Value = serde_json::from_str(&step.output).unwrap();
            let patch = reply["response"]["patch"].as_str();
            let patch = patch.map(|patch| String::from_utf8(STANDARD.decode(patch).unwrap()).unwrap());
            assert_eq!(step.json, patch, "{}", step.command);
        }
    }
}

#[test]
fn the_works_of_the_samples_are_what_the_sample_before_them_made() {
    let request = |name: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(repository().join("samples/works").join(name)).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["request"].clone()
    };
    let patch = samples("samples/works").1[1].json.clone().unwrap();
    let mut stored = request("02-create-elsewhere.json")["object"].clone();
    let patch: json_patch::Patch = serde_json::from_str(&patch).unwrap();
    json_patch::patch(&mut stored, &patch).unwrap();
    for name in ["03-label-revised.json", "04-edit-revised.json"] {
        assert_eq!(request(name)["oldObject"], stored, "{name}");
    }
}

#[test]
fn the_lines_of_the_readme_give_what_is_shown_below_them() {
    let document = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let mut steps = steps(&document);
    // The document may tell more about curl than what this server answers.
    steps.retain(|step| step.command.contains(PORT));
    assert!(steps.len() >= 2, "the README shows both kinds of cluster");
    if curl_is_there() {
        run("README.md", &[], &steps);
    }
}

#[test]
fn the_lines_are_found_where_they_stand() {
    let document = "$ curl none\n```sh\n$ curl none\n```\n```console\n$ reviser serve\nserving\n$ curl -s \\\n  a\none\ntwo\n\n$ curl b\n```\n```json\n[]\n```\n```json\n{}\n```\n";
    let step = |command: &str, output: &str, json: Option<&str>| Step {
        command: command.to_owned(),
        output: output.to_owned(),
        json: json.map(str::to_owned),
    };
    let expected = [step("curl -s \\\n  a", "one\ntwo\n\n", None), step("curl b", "", Some("[]"))];
    assert_eq!(steps(document), expected);
}
