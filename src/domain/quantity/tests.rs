//! The recorded answers of Kubernetes' own type, and what holds for all quantities.

use proptest::prelude::*;

use super::*;
use crate::json::Value;

const RECORDED: &str = include_str!("../../../tests/data/quantities.json");

/// A section of the recording.
fn recorded(section: &str) -> Vec<Value<'static>> {
    let recording = Value::parse(RECORDED.as_bytes()).unwrap();
    let cases = recording.get(section).unwrap().as_array().unwrap().to_vec();
    assert!(cases.len() > 100, "{section} has but {} cases", cases.len());
    cases
}

fn text<'v>(case: &'v Value<'_>, member: &str) -> &'v str {
    case.get(member).unwrap().as_str().unwrap()
}

fn integer(case: &Value<'_>, member: &str) -> i64 {
    case.get(member).unwrap().as_number().unwrap().as_i64().unwrap()
}

fn parse(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Checks one of the two readings: it is what was meant as far as an int64 goes, and so it is Go's where Go's
/// is.
fn check_reading(ours: i64, go: i64, exact: &str, text: &str) {
    let Ok(exact) = exact.parse::<i64>() else {
        let limit = if exact.starts_with('-') { i64::MIN } else { i64::MAX };
        return assert_eq!(ours, limit, "{text:?}");
    };
    assert_eq!(ours, exact, "{text:?}");
    // DIFFERENCE: Go rounds some negative amounts towards zero, or takes them for garbage.
    assert!(ours == go || exact <= 0 && text.starts_with('-') || text == "-0", "{text:?} {ours} {go}");
}

#[test]
fn every_recorded_text_is_read_as_kubernetes_reads_it() {
    let mut too_large = 0;
    for case in recorded("parsed") {
        let spelled = text(&case, "text");
        let Some(canonical) = case.get("canonical").and_then(Value::as_str) else {
            assert_eq!(Quantity::parse(spelled), Err(QuantityError::Malformed), "{spelled:?}");
            continue;
        };
        if Quantity::parse(spelled) == Err(QuantityError::TooLarge) {
            // DIFFERENCE: Go keeps numbers of any size.
            assert!(text(&case, "exactValue").trim_start_matches('-').len() >= 30, "{spelled:?}");
            too_large += 1;
            continue;
        }
        let quantity = parse(spelled);
        // DIFFERENCE: Go loses the suffix of a multiple of 1000E.
        if spelled == "1000E" {
            assert_eq!((canonical, quantity.to_string().as_str()), ("1", "1000E"));
        } else {
            assert_eq!(quantity.to_string(), canonical, "{spelled:?}");
        }
        check_reading(quantity.value(), integer(&case, "value"), text(&case, "exactValue"), spelled);
        check_reading(quantity.milli_value(), integer(&case, "milli"), text(&case, "exactMilli"), spelled);
    }
    assert!((1..20).contains(&too_large), "{too_large}");
}

#[test]
fn every_recorded_sum_and_comparison_is_that_of_kubernetes() {
    for case in recorded("sums") {
        let (a, b) = (parse(text(&case, "a")), parse(text(&case, "b")));
        assert_eq!(a.saturating_add(b).to_string(), text(&case, "sum"), "{case}");
        assert_eq!(a.cmp(&b) as i64, integer(&case, "cmp"), "{case}");
    }
}

#[test]
fn every_recorded_integer_is_written_as_kubernetes_writes_it() {
    for case in recorded("written") {
        let format = match text(&case, "format") {
            "DecimalSI" => Format::DecimalSi,
            "BinarySI" => Format::BinarySi,
            _ => Format::DecimalExponent,
        };
        let integer = integer(&case, "integer");
        if (integer, format) == (i64::MIN, Format::BinarySi) {
            // DIFFERENCE: Go does not find the factors of this one integer, which it can't negate.
            assert_eq!(Quantity::of_units(integer, format).to_string(), "-8Ei");
            continue;
        }
        assert_eq!(Quantity::of_units(integer, format).to_string(), text(&case, "units"), "{case}");
        assert_eq!(Quantity::of_millis(integer, format).to_string(), text(&case, "millis"), "{case}");
    }
}

#[test]
fn the_largest_quantity_is_kept_and_a_larger_one_is_refused() {
    // 2^127 - 1 billionths.
    let largest = "170141183460469231731687303715884105727n";
    assert_eq!(parse(largest).to_string(), largest);
    assert_eq!(parse(largest).saturating_add(parse("1n")), parse(largest));
    for text in [
        "170141183460469231731687303715884105728n",
        "170141183460469231731687303715.8841057271",
        "1e9223372036854775807",
        &format!("{}k", "9".repeat(100_000)),
    ] {
        assert_eq!(Quantity::parse(text), Err(QuantityError::TooLarge));
        assert_eq!(Quantity::parse(&format!("-{text}")), Err(QuantityError::TooLarge));
    }
}

#[test]
fn no_length_and_no_exponent_is_more_than_its_digits_take() {
    assert_eq!(parse("1e-9223372036854775808").to_string(), "1e-9");
    assert_eq!(parse("0e9223372036854775807").to_string(), "0");
    let zeros = "0".repeat(1_000_000);
    assert_eq!(parse(&format!("{zeros}1.{zeros}")).to_string(), "1");
    assert_eq!(parse(&format!("1.{zeros}1Ki")).to_string(), "1024000000001n");
    assert_eq!(parse(&format!("1{zeros}e-1000000")).to_string(), "1");
    assert_eq!(parse(&format!("1{zeros}Ki")).to_string(), i64::MAX.to_string());
}

fn any_format() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::DecimalSi), Just(Format::BinarySi), Just(Format::DecimalExponent)]
}

/// Quantities of all magnitudes, round ones among them. Those in binary format are not beyond what that can
/// express.
fn any_quantity() -> impl Strategy<Value = Quantity> {
    (any::<i128>(), 0_u32..127, 0_u32..8, 0_u32..5, any_format()).prop_map(
        |(bits, shift, thousands, kibis, format)| {
            let round = 1000_i128.pow(thousands) * 1024_i128.pow(kibis);
            let nanos = (bits >> shift) / round * round;
            let nanos = if format == Format::BinarySi { nanos.clamp(-BINARY_MAX, BINARY_MAX) } else { nanos };
            Quantity { nanos, format }
        },
    )
}

fn almost_quantity() -> impl Strategy<Value = String> {
    "[-+]?[0-9]{0,25}[.]?[0-9]{0,25}(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][-+]?[0-9]{0,3}|[a-zA-Z.+-]{0,3})"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn what_is_written_is_read_back(quantity in any_quantity()) {
        prop_assert_eq!(parse(&quantity.to_string()), quantity);
    }

    /// An amount in binary format that has no binary suffix, such as 64000, is read back as a decimal one:
    /// hence twice.
    #[test]
    fn reading_never_panics_and_the_spelling_settles(text in almost_quantity()) {
        if let Ok(quantity) = Quantity::parse(&text) {
            let settled = parse(&quantity.to_string()).to_string();
            prop_assert_eq!(parse(&settled), quantity);
            prop_assert_eq!(parse(&settled).to_string(), settled);
        }
    }

    #[test]
    fn sums_do_not_depend_on_their_order(a in any_quantity(), b in any_quantity(), c in any_quantity()) {
        // Three thirds of the range, so that nothing saturates.
        let [a, b, c] = [a, b, c].map(|q| Quantity { nanos: q.nanos / 3, ..q });
        prop_assert_eq!(a.saturating_add(b), b.saturating_add(a));
        prop_assert_eq!(a.saturating_add(b).saturating_add(c), a.saturating_add(b.saturating_add(c)));
        prop_assert_eq!(a.max(b).max(c), c.max(a).max(b));
        prop_assert_eq!(a.max(b).saturating_add(c), a.saturating_add(c).max(b.saturating_add(c)));
    }

    #[test]
    fn a_difference_undoes_a_sum(a in any_quantity(), b in any_quantity()) {
        let [a, b] = [a, b].map(|q| Quantity { nanos: q.nanos / 2, ..q });
        prop_assert_eq!(a.saturating_add(b).saturating_sub(b), a);
        prop_assert_eq!(Quantity::ZERO.saturating_sub(a).saturating_add(a), Quantity::ZERO);
    }

    #[test]
    fn an_approximate_value_is_exact_for_what_a_double_holds(whole in -(1_i64 << 53)..=(1_i64 << 53), halves in 0_i64..2) {
        let quantity = Quantity::of_millis(whole / 4 * 1000 + halves * 500, Format::DecimalSi);
        let doubled = quantity.approximate_value() * 2.0;
        prop_assert_eq!(format!("{doubled}"), format!("{}", whole / 4 * 2 + halves));
    }

    #[test]
    fn readings_round_away_from_zero_and_by_less_than_one(quantity in any_quantity()) {
        let quantity = Quantity { nanos: quantity.nanos >> 45, ..quantity };
        for (rounded, unit) in [(quantity.value(), NANOS), (quantity.milli_value(), NANOS_PER_MILLI)] {
            let gained = i128::from(rounded) * unit - quantity.nanos;
            prop_assert!(gained.abs() < unit && gained * quantity.nanos.signum() >= 0, "{quantity} {rounded}");
        }
    }

    /// The digits mean what exact arithmetic on them means.
    #[test]
    fn a_binary_fraction_is_exact(whole in 0_u32..1000, digits in 0_u64..1_000_000_000, power in 1_usize..5) {
        let unit = 1024_i128.pow(u32::try_from(power).unwrap());
        let billionths = (i128::from(whole) * NANOS + i128::from(digits)) * unit;
        let quantity = parse(&format!("{whole}.{digits:09}{}", BINARY_SUFFIXES[power]));
        prop_assert_eq!(quantity.nanos, billionths);
    }
}
