//! Objects of built-in kinds, and patches for them, at random: both mostly as they should be, and now and
//! then not.

/// What a field holds.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Scalar,
    /// A map of texts.
    Free,
    Map(Fields),
    /// A list of maps that is merged by a field, which holds integers if `true`.
    Keyed(&'static str, bool, Fields),
    /// A list of texts that is merged.
    Set,
    /// A list of texts that is replaced.
    Texts,
    /// A list of maps that is replaced.
    Maps(Fields),
}

use Shape::{Free, Keyed, Map, Maps, Scalar, Set, Texts};

type Fields = &'static [(&'static str, Shape)];

pub(super) struct Kind {
    api_version: &'static str,
    name: &'static str,
    fields: Fields,
}

const META: Fields = &[
    ("labels", Free),
    ("annotations", Free),
    ("finalizers", Set),
    ("ownerReferences", Keyed("uid", false, &[("x", Scalar), ("y", Free)])),
];

const CONTAINER: Fields = &[
    ("image", Scalar),
    ("args", Texts),
    (
        "env",
        Keyed(
            "name",
            false,
            &[("value", Scalar), ("valueFrom", Map(&[("fieldRef", Map(&[("fieldPath", Scalar)]))]))],
        ),
    ),
    ("envFrom", Maps(&[("prefix", Scalar), ("secretRef", Map(&[("name", Scalar)]))])),
    ("ports", Keyed("containerPort", true, &[("name", Scalar), ("protocol", Scalar)])),
    ("resources", Map(&[("limits", Free), ("requests", Free)])),
    ("volumeMounts", Keyed("mountPath", false, &[("name", Scalar)])),
];

const POD: Fields = &[
    ("nodeName", Scalar),
    ("priority", Scalar),
    ("nodeSelector", Free),
    ("securityContext", Map(&[("runAsUser", Scalar), ("sysctls", Maps(&[("name", Scalar)]))])),
    ("containers", Keyed("name", false, CONTAINER)),
    ("initContainers", Keyed("name", false, CONTAINER)),
    (
        "volumes",
        Keyed(
            "name",
            false,
            &[
                ("emptyDir", Map(&[("medium", Scalar)])),
                ("configMap", Map(&[("name", Scalar), ("items", Maps(&[("key", Scalar)]))])),
            ],
        ),
    ),
    ("tolerations", Maps(&[("key", Scalar), ("value", Scalar)])),
    ("hostAliases", Keyed("ip", false, &[("hostnames", Texts)])),
    ("imagePullSecrets", Keyed("name", false, &[])),
    ("unknownToAll", Scalar),
];

const TEMPLATE: Fields = &[("metadata", Map(META)), ("spec", Map(POD))];

const STRATEGY: Fields =
    &[("type", Scalar), ("rollingUpdate", Map(&[("maxSurge", Scalar), ("maxUnavailable", Scalar)]))];

const SELECTOR: Fields =
    &[("matchLabels", Free), ("matchExpressions", Maps(&[("key", Scalar), ("values", Texts)]))];

const CONDITIONS: Shape = Keyed("type", false, &[("status", Scalar), ("reason", Scalar)]);

pub(super) const KINDS: &[Kind] = &[
    Kind {
        api_version: "v1",
        name: "Pod",
        fields: &[
            ("metadata", Map(META)),
            ("spec", Map(POD)),
            ("status", Map(&[("conditions", CONDITIONS)])),
        ],
    },
    Kind {
        api_version: "apps/v1",
        name: "Deployment",
        fields: &[
            ("metadata", Map(META)),
            (
                "spec",
                Map(&[
                    ("replicas", Scalar),
                    ("strategy", Map(STRATEGY)),
                    ("selector", Map(SELECTOR)),
                    ("template", Map(TEMPLATE)),
                ]),
            ),
        ],
    },
    Kind {
        api_version: "v1",
        name: "Service",
        fields: &[
            ("metadata", Map(META)),
            (
                "spec",
                Map(&[
                    ("type", Scalar),
                    ("selector", Free),
                    ("externalIPs", Texts),
                    (
                        "ports",
                        Keyed(
                            "port",
                            true,
                            &[("name", Scalar), ("protocol", Scalar), ("targetPort", Scalar)],
                        ),
                    ),
                ]),
            ),
            ("status", Map(&[("conditions", CONDITIONS)])),
        ],
    },
    Kind {
        api_version: "v1",
        name: "Node",
        fields: &[
            ("metadata", Map(META)),
            ("spec", Map(&[("podCIDRs", Set), ("taints", Maps(&[("key", Scalar)]))])),
            ("status", Map(&[("capacity", Free), ("conditions", CONDITIONS)])),
        ],
    },
    Kind {
        api_version: "v1",
        name: "ConfigMap",
        fields: &[("metadata", Map(META)), ("data", Free), ("binaryData", Free), ("immutable", Scalar)],
    },
];

const WORDS: &[&str] = &["a", "b", "c", "d", "e", "f"];

pub(super) struct Generator {
    state: u64,
    /// How many of a hundred values are of an unexpected type.
    odd: usize,
}

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed | 1, odd: 0 }
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        // xorshift64*: small, and good enough to choose with.
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let high = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).unwrap() % end
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    pub(super) fn object(&mut self, kind: &Kind, name: &str) -> String {
        let mut members =
            vec![member("apiVersion", &quoted(kind.api_version)), member("kind", &quoted(kind.name))];
        for (field, shape) in kind.fields {
            if *field == "metadata" {
                // Kubectl decodes it before it does anything.
                let rest = self.members(META, 50);
                let all = std::iter::once(member("name", &quoted(name))).chain(rest);
                members.push(member(field, &map(all)));
            } else if self.percent(90) {
                self.odd = 3;
                let value = self.value(*shape);
                self.odd = 0;
                members.push(member(field, &value));
            }
        }
        map(members)
    }

    fn members(&mut self, fields: Fields, chance: usize) -> Vec<String> {
        let mut members = Vec::new();
        for (field, shape) in fields {
            if self.percent(chance) {
                let value = if self.percent(self.odd) { self.oddity(*shape) } else { self.value(*shape) };
                members.push(member(field, &value));
            }
        }
        members
    }

    fn scalar(&mut self) -> String {
        match self.below(8) {
            0 => "1".to_owned(),
            1 => "2".to_owned(),
            2 => "1.5".to_owned(),
            3 => "true".to_owned(),
            _ => quoted(self.word()),
        }
    }

    /// A value of an unexpected type. The result of kubectl for lists in place of maps is accidental.
    fn oddity(&mut self, shape: Shape) -> String {
        let texts = ["null", "1", r#""odd""#, r#"{"odd":null,"x":[{"y":null}]}"#, "{}", "[]", r#"["odd"]"#];
        let count = if matches!(shape, Map(_) | Free | Scalar) { texts.len() - 2 } else { texts.len() };
        texts[self.below(count)].to_owned()
    }

    fn value(&mut self, shape: Shape) -> String {
        match shape {
            Scalar => self.scalar(),
            Free => {
                let names = self.distinct(4);
                map(names.iter().map(|name| member(name, &quoted(self.word()))))
            }
            Map(fields) => map(self.members(fields, 60)),
            Keyed(key, numbers, fields) => {
                let keys = self.distinct(5);
                list(keys.iter().map(|name| self.item(key, numbers, name, fields)))
            }
            Set | Texts => list(self.distinct(5).iter().map(|word| quoted(word))),
            Maps(fields) => {
                let count = self.below(3);
                list((0..count).map(|_| map(self.members(fields, 70))))
            }
        }
    }

    fn item(&mut self, key: &str, numbers: bool, name: &str, fields: Fields) -> String {
        let mut members = self.members(fields, 40);
        // Without its key, now and then.
        if self.odd == 0 || !self.percent(1) {
            let place = self.below(members.len() + 1);
            members.insert(place, member(key, &identity(numbers, name)));
        }
        map(members)
    }

    /// Up to so many words, none twice.
    fn distinct(&mut self, most: usize) -> Vec<&'static str> {
        let mut words: Vec<&str> = WORDS.to_vec();
        let count = self.below(most + 1);
        (0..count).map(|_| words.remove(self.below(words.len()))).collect()
    }

    /// A patch that leaves the name of the object alone.
    pub(super) fn patch(&mut self, kind: &Kind) -> String {
        let mut members = Vec::new();
        for (field, shape) in kind.fields {
            match shape {
                Map(fields) if *field == "metadata" => {
                    let inner = self.patch_members(fields);
                    members.push(member(field, &map(inner)));
                }
                shape if self.percent(75) => {
                    let value = self.patch_value(*shape);
                    members.push(member(field, &value));
                }
                _ => {}
            }
        }
        map(members)
    }

    fn patch_members(&mut self, fields: Fields) -> Vec<String> {
        let mut members = Vec::new();
        for (field, shape) in fields {
            if !self.percent(40) {
                continue;
            }
            let value = match self.below(100) {
                0..8 => "null".to_owned(),
                8..11 => self.oddity(*shape),
                _ => self.patch_value(*shape),
            };
            if matches!(shape, Set | Texts) && self.percent(25) {
                members.push(member(&format!("$deleteFromPrimitiveList/{field}"), &self.value(Set)));
                if self.percent(50) {
                    continue;
                }
            }
            if self.percent(20)
                && let Some(order) = self.order(*shape, &value)
            {
                members.push(member(&format!("$setElementOrder/{field}"), &order));
            }
            members.push(member(field, &value));
        }
        members
    }

    fn patch_value(&mut self, shape: Shape) -> String {
        match shape {
            Map(_) | Free if self.percent(4) => r#"{"$patch":"delete"}"#.to_owned(),
            Map(fields) => {
                let mut members = self.patch_members(fields);
                match self.below(20) {
                    0 => members.push(member("$patch", r#""replace""#)),
                    1 => {
                        let mut names: Vec<String> = fields.iter().map(|(name, _)| quoted(name)).collect();
                        names.truncate(names.len() - self.below(2));
                        members.push(member("$retainKeys", &list(names)));
                    }
                    _ => {}
                }
                map(members)
            }
            Free => {
                let names = self.distinct(3);
                let value =
                    |this: &mut Self| if this.percent(25) { "null".to_owned() } else { this.scalar() };
                map(names.iter().map(|name| member(name, &value(self))))
            }
            Keyed(key, numbers, fields) => {
                let names = self.distinct(4);
                let mut items: Vec<String> = Vec::new();
                for name in names {
                    let mut members = vec![member(key, &identity(numbers, name))];
                    if self.percent(15) {
                        members.push(member("$patch", r#""delete""#));
                        items.push(map(members.clone()));
                        if !self.percent(20) {
                            continue;
                        }
                        members.pop();
                    }
                    members.extend(self.patch_members(fields));
                    items.push(map(members));
                }
                if self.percent(4) {
                    items.push(r#"{"$patch":"replace"}"#.to_owned());
                }
                if self.percent(1) {
                    items.push(map(self.patch_members(fields)));
                }
                list(items)
            }
            other => self.value(other),
        }
    }

    /// An order for the list that `patch` is: mostly one that it keeps to.
    fn order(&mut self, shape: Shape, patch: &str) -> Option<String> {
        let items: Vec<serde_json::Value> = serde_json::from_str(patch).ok()?;
        let item = |name: &str| match shape {
            Keyed(key, numbers, _) => Some(map(vec![member(key, &identity(numbers, name))])),
            Set | Texts => Some(quoted(name)),
            _ => None,
        };
        let mut names = Vec::new();
        for value in &items {
            let name = match shape {
                Keyed(key, ..) if value.get("$patch").is_none() => value.get(key)?,
                Keyed(..) => continue,
                _ => value,
            };
            let name = name.as_str().map(str::to_owned).or_else(|| {
                let port = usize::try_from(name.as_u64()?).ok()?;
                WORDS.get(port.checked_sub(80)?).map(|word| (*word).to_owned())
            })?;
            names.push(name);
        }
        for extra in self.distinct(4) {
            if !names.iter().any(|name| name == extra) {
                let place = self.below(names.len() + 1);
                names.insert(place, extra.to_owned());
            }
        }
        if self.percent(6) {
            names.reverse();
        }
        names.iter().map(|name| item(name)).collect::<Option<Vec<_>>>().map(list)
    }
}

fn identity(numbers: bool, name: &str) -> String {
    let position = WORDS.iter().position(|word| *word == name);
    match position {
        Some(position) if numbers => (80 + position).to_string(),
        _ => quoted(name),
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn member(name: &str, value: &str) -> String {
    format!("{name:?}:{value}")
}

fn map(members: impl IntoIterator<Item = String>) -> String {
    format!("{{{}}}", members.into_iter().collect::<Vec<_>>().join(","))
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}
