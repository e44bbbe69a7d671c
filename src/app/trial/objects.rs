//! Objects from files that policies are tried on.

use std::path::{Path, PathBuf};

use crate::documents::{self, Diagnostic, Object};
use crate::domain::{ClusterName, Schedule, Target, Workload};
use crate::json::{ParseError, Text, Value};
use crate::policy;

/// An object from a file, with the template that `original` and `divide` read.
#[derive(Debug)]
pub struct TrialObject {
    pub workload: Workload,
    text: String,
    /// The template from `--original`, if that has one.
    original: Option<String>,
    source: Object,
}

#[derive(Debug, Default)]
pub struct TrialObjects {
    /// In the order of the files.
    pub objects: Vec<TrialObject>,
    pub faults: Vec<Diagnostic>,
    /// The documents that are skipped, each with the reason.
    pub notes: Vec<String>,
}

impl TrialObjects {
    /// Reads objects from files and directories, and their templates from the file `original`. A template
    /// belongs to the object with the same group, kind, namespace and name.
    pub fn read(paths: &[PathBuf], original: Option<&Path>) -> Self {
        let mut read = Self::default();
        for Identified { workload, text, source } in read.identified(paths, true) {
            read.objects.push(TrialObject { workload, text, original: None, source });
        }
        if read.objects.is_empty() && read.faults.is_empty() {
            read.faults.extend(paths.first().map(|path| Diagnostic::of(path, "there is no object in it")));
        }
        if let Some(original) = original {
            read.read_templates(original);
        }
        read
    }

    /// The objects in files. Policies are skipped, with a note if `notes`.
    fn identified(&mut self, paths: &[PathBuf], notes: bool) -> Vec<Identified> {
        let documents::Objects { objects, errors } = documents::read_objects(paths);
        self.faults.extend(errors);
        let mut identified = Vec::new();
        for source in objects {
            if let Some(kind) = policy::own_kind(&source.value) {
                let note = source.diagnostic(&format!("skipped, because a {kind} of reviser is not revised"));
                self.notes.extend(notes.then(|| note.to_string()));
                continue;
            }
            let workload = match Workload::read(&source.value) {
                Ok(workload) => workload,
                Err(problem) => {
                    self.faults.push(source.diagnostic(&problem));
                    continue;
                }
            };
            let text = source.value.to_string();
            match Text::parse(text.as_bytes()).map(drop) {
                Ok(()) => identified.push(Identified { workload, text, source }),
                Err(error) => self.faults.push(source.diagnostic(&error.to_string())),
            }
        }
        identified
    }

    fn read_templates(&mut self, path: &Path) {
        let before = self.faults.len();
        let templates = self.identified(&[path.to_owned()], false);
        for object in self.objects.iter_mut().filter(|object| !object.is_chaperon()) {
            let template =
                templates.iter().find(|template| is_template(&template.workload, &object.workload));
            object.original = template.map(|template| template.text.clone());
        }
        let is_used = self.objects.iter().any(|object| object.original.is_some());
        if !is_used && self.faults.len() == before && !self.objects.is_empty() {
            let names: Vec<String> =
                templates.iter().map(|template| template.workload.qualified_name()).collect();
            let held = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            self.faults.push(Diagnostic::of(
                path,
                &format!(
                    "holds {held}, but no template of an object of --filename; a template has the kind, namespace and name of its object"
                ),
            ));
        }
    }
}

/// A note for the user if one of `objects`, whose `original` rules have read, has no template. `original` is
/// the flag.
pub fn without_template<'o>(
    objects: impl IntoIterator<Item = &'o TrialObject>,
    original: Option<&Path>,
) -> Option<String> {
    let mut names = objects.into_iter().filter(|object| object.is_its_own_template()).peekable();
    names.peek()?;
    let Some(path) = original else {
        return Some("no --original: `original` and `divide` read the object itself".to_owned());
    };
    let names: Vec<String> = names.map(|object| object.workload.qualified_name()).collect();
    Some(format!(
        "{} holds no template of {}: `original` and `divide` read the object itself",
        path.display(),
        names.join(", ")
    ))
}

fn is_template(template: &Workload, object: &Workload) -> bool {
    let key = |workload: &Workload| {
        let Workload { gvk, namespace, name } = workload;
        (gvk.group.clone(), gvk.kind.clone(), namespace.clone(), name.clone())
    };
    key(template) == key(object)
}

struct Identified {
    workload: Workload,
    text: String,
    source: Object,
}

impl TrialObject {
    pub fn value(&self) -> &Value<'static> {
        &self.source.value
    }

    /// Without a template, the object is its own, except for `PodChaperon`s, whose door has no templates.
    pub fn parse(&self) -> Result<ParsedObject<'_>, ParseError> {
        let template = self.original.as_ref().unwrap_or(&self.text);
        let original = (!self.is_chaperon()).then_some(template);
        Ok(ParsedObject {
            object: Text::parse(self.text.as_bytes())?,
            original: original.map(|text| Text::parse(text.as_bytes())).transpose()?,
            is_chaperon: self.is_chaperon(),
        })
    }

    /// Whether the object is tried with itself as its template.
    pub fn is_its_own_template(&self) -> bool {
        self.original.is_none() && !self.is_chaperon()
    }

    /// Whether it is a `PodChaperon`, whose door has no templates and undoes no earlier revision.
    pub fn is_chaperon(&self) -> bool {
        self.workload.is_chaperon()
    }

    pub fn fault(&self, problem: &str) -> Diagnostic {
        self.source.diagnostic(problem)
    }

    /// The name in messages: the file, if that holds only this object.
    pub fn label(&self) -> String {
        let (path, name) = (self.source.path(), self.workload.qualified_name());
        if path == Path::new(documents::STDIN) {
            name
        } else if self.source.is_whole_file() {
            path.display().to_string()
        } else {
            format!("{name} in {}", path.display())
        }
    }
}

/// An object and its template, parsed.
#[derive(Debug)]
pub struct ParsedObject<'t> {
    pub object: Text<'t>,
    /// The template; `None` for `PodChaperon`s.
    original: Option<Text<'t>>,
    is_chaperon: bool,
}

impl ParsedObject<'_> {
    /// For one cluster of `schedule`. The door of `PodChaperon`s has no schedule.
    pub fn target(&self, cluster: &ClusterName, schedule: &Schedule) -> Target<'_> {
        let original = self.original.as_ref().map(Text::root);
        if self.is_chaperon {
            return Target { cluster: cluster.clone(), replicas: None, schedule: None, original };
        }
        Target { original, ..self.whole_target(cluster, schedule) }
    }

    /// The same, with schedule and template for `PodChaperon`s too.
    pub fn whole_target(&self, cluster: &ClusterName, schedule: &Schedule) -> Target<'_> {
        Target {
            cluster: cluster.clone(),
            replicas: schedule.replicas_of(cluster),
            schedule: Some(schedule.clone()),
            original: Some(self.original.as_ref().unwrap_or(&self.object).root()),
        }
    }
}
