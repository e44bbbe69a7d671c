//! The action `image`.

use super::case::{Case, rule_faults};

const OLD: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const NEW: &str = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/// The image after the rule.
#[track_caller]
fn image(rule: &str, image: &str) -> String {
    let rule = rule.replace("NEW", NEW);
    let image = image.replace("OLD", OLD);
    let spec = Case::rule(&format!("image: {{{rule}}}"))
        .spec(&format!("{{template: {{spec: {{containers: [{{name: c, image: '{image}'}}]}}}}}}"));
    let inside = spec.strip_prefix(r#"{"template":{"spec":{"containers":[{"name":"c","image":""#);
    let inside = inside.unwrap_or_else(|| panic!("{spec}")).strip_suffix(r#""}]}}}"#).unwrap();
    inside.replace(OLD, "OLD").replace(NEW, "NEW")
}

#[track_caller]
fn refused(rule: &str, image: &str) -> String {
    Case::rule(&format!("image: {{{rule}}}"))
        .refused(&format!("{{template: {{spec: {{containers: [{{name: c, image: {image}}}]}}}}}}"))
}

#[test]
fn the_registry_is_replaced_or_put_in_front() {
    for (before, after) in [
        ("nginx", "eu.example.com/nginx"),
        ("nginx:1.27", "eu.example.com/nginx:1.27"),
        // `library/` is neither added nor removed.
        ("docker.io/library/nginx:1.27", "eu.example.com/library/nginx:1.27"),
        ("ubuntu/nginx", "eu.example.com/ubuntu/nginx"),
        ("localhost/a/b", "eu.example.com/a/b"),
        ("localhost:5000/a:v1@OLD", "eu.example.com/a:v1@OLD"),
        ("[::1]:5000/a", "eu.example.com/a"),
        ("registry.example.com:443/team/app@OLD", "eu.example.com/team/app@OLD"),
        // Without a slash after it, the text after the colon is a tag and not a port.
        ("registry:5000", "eu.example.com/registry:5000"),
    ] {
        assert_eq!(image("registry: eu.example.com", before), after, "{before}");
    }
    assert_eq!(image("registry: 'eu.example.com:5000'", "a/b:v1"), "eu.example.com:5000/a/b:v1");
    assert_eq!(image("registry: ''", "docker.io/library/nginx"), "library/nginx");
    assert_eq!(image("registry: ''", "nginx"), "nginx");
}

#[test]
fn what_is_not_named_stays() {
    for (rule, before, after) in [
        ("repository: team/web", "r.example.com:5000/app:v1@OLD", "r.example.com:5000/team/web:v1@OLD"),
        ("repository: web", "nginx", "web"),
        ("tag: v2", "r.example.com/app:v1", "r.example.com/app:v2"),
        ("tag: v2", "r.example.com:5000/app", "r.example.com:5000/app:v2"),
        ("digest: 'NEW'", "app:v1", "app:v1@NEW"),
        ("digest: 'NEW'", "app@OLD", "app@NEW"),
        ("digest: ''", "app:v1@OLD", "app:v1"),
        ("registry: r.io, repository: x, tag: t, digest: 'NEW'", "a/b:v1@OLD", "r.io/x:t@NEW"),
        ("tag: '${cluster.name}-${replicas}'", "app:v1", "app:x-3"),
        ("tag: '${replicas}'", "app", "app:3"),
    ] {
        assert_eq!(image(rule, before), after, "{rule} {before}");
    }
}

/// A digest identifies the old image, so it would override the new tag.
#[test]
fn a_tag_drops_the_digest_unless_one_is_given_too() {
    assert_eq!(image("tag: v2", "app:v1@OLD"), "app:v2");
    assert_eq!(image("tag: v2", "app@OLD"), "app:v2");
    assert_eq!(image("tag: v1", "app:v1@OLD"), "app:v1");
    assert_eq!(image("tag: v2, digest: 'NEW'", "app:v1@OLD"), "app:v2@NEW");
    // Removing the tag does not change the image, so the digest is kept.
    assert_eq!(image("tag: ''", "app:v1@OLD"), "app@OLD");
    assert_eq!(image("tag: ''", "app:v1"), "app");
}

#[test]
fn a_container_without_an_image_is_left_alone() {
    for absent in ["", ", image: null"] {
        let spec = format!("{{template: {{spec: {{containers: [{{name: c{absent}}}]}}}}}}");
        assert_eq!(Case::rule("image: {tag: v2}").revised(&spec).unwrap().patch, "[]");
    }
    let same = "{template: {spec: {containers: [{name: c, image: 'a:v2'}]}}}";
    let done = Case::rule("image: {tag: v2}").revised(same).unwrap();
    assert_eq!((done.patch.as_str(), done.applied.len()), ("[]", 0));
}

#[test]
fn only_the_named_containers_are_changed() {
    let spec = "{template: {spec: {initContainers: [{name: i, image: a}], containers: [{name: b, image: a}, {name: c, image: 'not an image'}]}}}";
    let patch = |rule: &str| Case::rule(&format!("image: {{tag: v2, {rule}}}")).revised(spec).unwrap().patch;
    let replaced = |place: &str| {
        format!(r#"{{"op":"replace","path":"/spec/template/spec/{place}/0/image","value":"a:v2"}}"#)
    };
    assert_eq!(patch("containers: [b]"), format!("[{}]", replaced("containers")));
    assert_eq!(
        patch("containers: [b, i], initContainers: true"),
        format!("[{},{}]", replaced("initContainers"), replaced("containers"))
    );
}

#[test]
fn what_is_no_reference_is_refused_before_and_after() {
    for (rule, image, refusal) in [
        (
            "tag: v2",
            "'$(IMAGE)'",
            "/spec/template/spec/containers/0/image: \"$(IMAGE)\" is no image reference: the repository is ",
        ),
        (
            "tag: v2",
            "App",
            "/spec/template/spec/containers/0/image: \"App\" is no image reference: the repository is ",
        ),
        ("tag: v2", "5", "/spec/template/spec/containers/0/image: must be an image reference, is a number"),
        (
            "tag: '${\"v 2\"}'",
            "app",
            "/spec/template/spec/containers/0/image: \"app:v 2\" is no image reference: the tag is ",
        ),
        (
            "registry: '${\"mirror\"}'",
            "app",
            "/spec/template/spec/containers/0/image: \"mirror/app\" is no image reference: the registry is ",
        ),
        // A path is part of the repository.
        (
            "registry: '${\"r.io/mirror\"}'",
            "app",
            "/spec/template/spec/containers/0/image: \"r.io/mirror/app\" is no image reference: the registry is no host, or host and port; the path belongs to `repository`",
        ),
        ("repository: '${object.spec.none}'", "app", "failed to evaluate \"object.spec.none\""),
        (
            "repository: '${\"r.io/app\"}'",
            "app",
            "/spec/template/spec/containers/0/image: \"r.io/app\" is no image reference: the repository is ",
        ),
        (
            "registry: ''",
            "'localhost/a.b/c'",
            "/spec/template/spec/containers/0/image: \"a.b/c\" is no image reference: the repository is ",
        ),
        (
            "digest: '${\"sha256:12\"}'",
            "app",
            "/spec/template/spec/containers/0/image: \"app@sha256:12\" is no image reference: the digest is ",
        ),
        ("tag: '${object.spec}'", "app", "`image.tag` must give a string, and gave a map"),
    ] {
        let found = refused(rule, image);
        assert!(found.starts_with(refusal), "{rule} {image}: {found}");
    }
}

#[test]
fn what_is_wrong_with_it_is_found_at_load() {
    for (image, finding) in [
        ("{}", "image: needs at least one of registry, repository, repositoryPrefix, tag, digest"),
        (
            "{containers: [c]}",
            "image: needs at least one of registry, repository, repositoryPrefix, tag, digest",
        ),
        ("{repository: ''}", "image.repository: must not be empty"),
        ("{tag: 1.27}", "image.tag: must be a string, is a number"),
        ("{tag: '${null}'}", "image.tag: must give a string, and gives null"),
        (
            "{registry: mirror}",
            "image.registry: the registry is no host, or host and port; it needs a dot or a port",
        ),
        (
            "{registry: r.io/x}",
            "image.registry: the registry is no host, or host and port; the path belongs to `repository`",
        ),
        (
            "{registry: 'localhost:5000/a/b'}",
            "image.registry: the registry is no host, or host and port; the path",
        ),
        ("{registry: r.io/}", "image.registry: the registry is no host, or host and port; the path"),
        (
            "{registry: 'https://r.io'}",
            "image.registry: the registry is no host, or host and port; leave out the scheme",
        ),
        ("{repositoryPrefix: ''}", "image.repositoryPrefix: must not be empty"),
        ("{repositoryPrefix: /proxy}", "image.repositoryPrefix: the repository is "),
        ("{repositoryPrefix: proxy/}", "image.repositoryPrefix: the repository is "),
        (
            "{repositoryPrefix: a, repository: b}",
            "image.repositoryPrefix: keeps the repository; leave out one of",
        ),
        ("{from: ''}", "image.from: must not be empty"),
        (
            "{from: docker, tag: v1}",
            "image.from: the registry is no host, or host and port; it needs a dot or a port",
        ),
        (
            "{from: docker.io/library, tag: v1}",
            "image.from: the registry is no host, or host and port; the path",
        ),
        ("{from: docker.io}", "image: needs at least one of registry"),
        ("{repository: UPPER}", "image.repository: the repository is "),
        ("{tag: 'a b'}", "image.tag: the tag is "),
        ("{digest: 'sha256:zz'}", "image.digest: the digest is "),
        ("{tagg: v1}", "image.tagg: unknown field; did you mean \"tag\"?"),
    ] {
        let found = rule_faults(&format!("image: {image}"));
        assert!(found.iter().any(|found| found.starts_with(finding)), "{image}: {found:#?}");
    }
}

/// For a registry proxy: each image keeps its repository, below the project.
#[test]
fn a_prefix_keeps_the_repository() {
    let proxy = "registry: harbor.example.com, repositoryPrefix: proxy";
    for (rule, before, after) in [
        (proxy, "docker.io/library/nginx:1.27", "harbor.example.com/proxy/library/nginx:1.27"),
        (proxy, "docker.io/bitnami/redis@OLD", "harbor.example.com/proxy/bitnami/redis@OLD"),
        // Docker Hub keeps these images below `library/`, and a proxy expects them there.
        (proxy, "nginx:1.27", "harbor.example.com/proxy/library/nginx:1.27"),
        (proxy, "docker.io/nginx", "harbor.example.com/proxy/library/nginx"),
        (proxy, "index.docker.io/nginx", "harbor.example.com/proxy/library/nginx"),
        (proxy, "bitnami/redis", "harbor.example.com/proxy/bitnami/redis"),
        (proxy, "ghcr.io/log:2", "harbor.example.com/proxy/log:2"),
        ("repositoryPrefix: a/b", "r.example.com/c:1", "r.example.com/a/b/c:1"),
        ("repositoryPrefix: '${cluster.name}', tag: v2", "r.example.com/c:1@OLD", "r.example.com/x/c:v2"),
        ("repositoryPrefix: '${\"\"}'", "nginx", "nginx"),
    ] {
        assert_eq!(image(rule, before), after, "{rule} {before}");
    }
    assert!(
        refused("repositoryPrefix: '${\"A\"}'", "nginx").contains("is no image reference: the repository is")
    );
}

#[test]
fn from_says_of_which_registry_the_images_are() {
    let hub = "from: docker.io, registry: m.io";
    for (rule, before, after) in [
        (hub, "nginx", "m.io/nginx"),
        (hub, "docker.io/library/nginx", "m.io/library/nginx"),
        (hub, "index.docker.io/team/a:1", "m.io/team/a:1"),
        ("from: index.docker.io, registry: m.io", "team/a", "m.io/team/a"),
        (hub, "ghcr.io/team/log:2", "ghcr.io/team/log:2"),
        (hub, "localhost/a", "localhost/a"),
        (hub, "m.io/nginx", "m.io/nginx"),
        (
            "from: ghcr.io, registry: m.io, repositoryPrefix: ghcr",
            "ghcr.io/team/log:2",
            "m.io/ghcr/team/log:2",
        ),
        ("from: 'localhost:5000', tag: v2", "localhost:5000/a:v1", "localhost:5000/a:v2"),
        ("from: 'localhost:5000', tag: v2", "localhost/a:v1", "localhost/a:v1"),
        ("from: '${cluster.name}.io', tag: v2", "x.io/a:v1", "x.io/a:v2"),
    ] {
        assert_eq!(image(rule, before), after, "{rule} {before}");
    }
    assert!(refused("from: docker.io, tag: v2", "'A B'").contains("is no image reference"));
}
