//! The names that are probably meant by a misspelt one.

const MOST: usize = 3;

/// In bytes: the longest name that Kubernetes allows.
const LONGEST: usize = 253;

/// The candidates that differ from `name` in few characters, without regard to case: at most three, the
/// nearest first, equally near ones by name.
///
/// Few are at most a third of the longer of the two names, at least one, and never all. Two swapped
/// neighbours count as one.
pub fn nearest_names<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Vec<&'c str> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let length = name.chars().count();
    let near = candidates.into_iter().filter_map(|candidate| {
        let lower = candidate.to_lowercase();
        let other = lower.chars().count();
        let longer = length.max(other);
        let most = (longer / 3).max(1).min(longer.saturating_sub(1));
        // The distance is at least the difference of the lengths.
        let distance = (candidate.len() <= LONGEST && length.abs_diff(other) <= most)
            .then(|| strsim::osa_distance(&name, &lower))?;
        (distance <= most).then_some((distance, candidate))
    });
    let mut near: Vec<(usize, &str)> = near.collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MOST).map(|(_, candidate)| candidate).collect()
}

/// The candidate that is most like `name`, if one is alike enough. This compares how names begin: `labels` is
/// like `labelSelector`.
pub fn likeliest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const ALIKE: f64 = 0.8;
    let name = name.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_others_are_not() {
        for (name, candidates, expected) in [
            ("use-v100-32GB", &["use-v100-32G", "use-t4", "plain"][..], &["use-v100-32G"][..]),
            ("use-v1000", &["use-v100-32G"], &["use-v100-32G"]),
            ("GPU", &["gpu", "cpu", "gpus"], &["gpu", "cpu", "gpus"]),
            ("gup", &["gpu"], &["gpu"]),
            (
                "train-eu",
                &["trian-eu", "train-us", "train-eu-2", "rain-eu"],
                &["rain-eu", "trian-eu", "train-eu-2"],
            ),
            ("frankfurt", &["gpu", "oregon", "spot-instances"], &[]),
            ("a", &["b", "c", ""], &[]),
            ("ab", &["ac", "cd"], &["ac"]),
            ("", &["", "a"], &[""]),
            ("köln", &["koln", "KÖLN"], &["KÖLN", "koln"]),
            ("gpu", &["gpu-x", "gpu-x"], &[]),
            ("gpu1", &["gpu2", "gpu2"], &["gpu2"]),
        ] {
            assert_eq!(nearest_names(name, candidates.iter().copied()), expected, "{name}");
        }
    }

    #[test]
    fn a_name_that_is_too_long_for_kubernetes_is_near_none() {
        let long = "a".repeat(LONGEST + 1);
        assert!(nearest_names(&long, [long.as_str()]).is_empty());
        assert!(nearest_names(&"a".repeat(LONGEST), [long.as_str()]).is_empty());
    }
}
