//! Sums and maxima per resource, and what the names of resources mean.
//!
//! Mirrors `karmada-io/karmada@f8fdd02` `pkg/util/resource.go` (`Resource`) and
//! `pkg/util/lifted/corev1helpers.go`.

use std::collections::BTreeMap;

use crate::domain::{Format, Quantity};

/// The requests so far, in whole numbers of the measure of each resource.
#[derive(Default)]
pub(super) struct Amounts<'v>(BTreeMap<&'v str, (Measure, Quantity)>);

impl<'v> Amounts<'v> {
    pub(super) fn add(&mut self, name: &'v str, quantity: Quantity) {
        self.change(name, quantity, Quantity::saturating_add);
    }

    pub(super) fn raise(&mut self, name: &'v str, quantity: Quantity) {
        self.change(name, quantity, Quantity::max);
    }

    fn change(&mut self, name: &'v str, quantity: Quantity, combine: fn(Quantity, Quantity) -> Quantity) {
        let Some(measure) = Measure::of(name) else {
            return;
        };
        let (_, total) = self.0.entry(name).or_insert((measure, Quantity::ZERO));
        *total = combine(*total, measure.count(quantity));
    }

    pub(super) fn into_request(self) -> BTreeMap<String, Quantity> {
        let positive = self.0.into_iter().filter(|(_, (_, total))| *total > Quantity::ZERO);
        // A sum of int64s can be larger than one.
        positive.map(|(name, (measure, total))| (name.to_owned(), measure.count(total))).collect()
    }
}

/// The unit of a resource, and the spelling of its amount.
#[derive(Clone, Copy)]
enum Measure {
    /// Thousandths, with decimal suffixes.
    Millis,
    /// Bytes, with binary suffixes.
    Bytes,
    /// Pieces, with decimal suffixes.
    Pieces,
}

impl Measure {
    /// `None` for a resource that schedulers do not know, which does not count.
    fn of(name: &str) -> Option<Self> {
        match name {
            "cpu" => Some(Self::Millis),
            "memory" | "ephemeral-storage" => Some(Self::Bytes),
            "pods" => Some(Self::Pieces),
            _ if name.starts_with("hugepages-") => Some(Self::Bytes),
            _ if name.starts_with("attachable-volumes-")
                || name.contains("kubernetes.io/")
                || is_extended(name) =>
            {
                Some(Self::Pieces)
            }
            _ => None,
        }
    }

    /// `quantity` in whole numbers, rounded away from zero.
    fn count(self, quantity: Quantity) -> Quantity {
        match self {
            Self::Millis => Quantity::of_millis(quantity.milli_value(), Format::DecimalSi),
            Self::Bytes => Quantity::of_units(quantity.value(), Format::BinarySi),
            Self::Pieces => Quantity::of_units(quantity.value(), Format::DecimalSi),
        }
    }
}

/// Whether `name`, which is none of Kubernetes' own, is an extended resource such as `nvidia.com/gpu`.
///
/// It has to stay a valid name when the quota's `requests.` is put in front, which leaves that much less room
/// for the domain.
fn is_extended(name: &str) -> bool {
    const MAX_DOMAIN: usize = 253 - "requests.".len();
    const MAX_NAME: usize = 63;
    let Some((domain, name)) = name.split_once('/') else {
        return false;
    };
    let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    domain.len() <= MAX_DOMAIN
        && !domain.starts_with("requests.")
        && domain.split('.').all(|label| is_word(label, lower, b"-"))
        && name.len() <= MAX_NAME
        && is_word(name, |byte| byte.is_ascii_alphanumeric(), b"-_.")
}

/// Whether `text` begins and ends with a letter, in between also holds `marks`, and is not empty.
fn is_word(text: &str, letter: impl Fn(u8) -> bool, marks: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|&first| letter(first))
        && bytes.last().is_some_and(|&last| letter(last))
        && bytes.iter().all(|&byte| letter(byte) || marks.contains(&byte))
}
