//! The schedule of a `CronJob`.

/// The five fields: what each is, and the smallest and largest number in it.
const FIELDS: [(&str, u32, u32); 5] = [
    ("the minute", 0, 59),
    ("the hour", 0, 23),
    ("the day of the month", 1, 31),
    ("the month", 1, 12),
    ("the day of the week", 0, 6),
];

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const NAMED: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// The problem of a schedule, if it is invalid.
pub(super) fn problem(schedule: &str) -> Option<String> {
    if schedule.starts_with('@') {
        // `@every` takes a duration of Go, which is not checked here.
        let is_known = NAMED.contains(&schedule) || schedule.starts_with("@every ");
        return (!is_known).then(|| "there is no schedule of this name".to_owned());
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Some(format!("it has {} fields, not 5", fields.len()));
    }
    fields.iter().zip(FIELDS).find_map(|(field, (what, least, most))| {
        let is_fine = |range: &str| is_range(range, what, least, most);
        let wrong = field.split(',').find(|range| !range.is_empty() && !is_fine(range))?;
        Some(format!("{wrong:?} is not possible for {what}, which is from {least} to {most}"))
    })
}

/// Whether it is `*`, a number, a range of numbers, or one of these with a step.
fn is_range(range: &str, what: &str, least: u32, most: u32) -> bool {
    let (range, step) = match range.split_once('/') {
        Some((range, step)) => (range, Some(step)),
        None => (range, None),
    };
    let is_step = step.is_none_or(|step| step.parse::<u32>().is_ok_and(|step| step > 0));
    let (low, high) = match range.split_once('-') {
        Some((low, high)) => (low, Some(high)),
        None => (range, None),
    };
    let bounds = match (low, high) {
        ("*" | "?", None | Some(_)) => Some((least, most)),
        (low, Some(high)) => number(low, what).zip(number(high, what)),
        (low, None) => number(low, what).map(|low| (low, if step.is_some() { most } else { low })),
    };
    is_step && bounds.is_some_and(|(low, high)| least <= low && low <= high && high <= most)
}

/// A number, or the name of a month or day.
fn number(text: &str, what: &str) -> Option<u32> {
    let names: &[&str] = match what {
        "the month" => &MONTHS,
        "the day of the week" => &DAYS,
        _ => &[],
    };
    let position = names.iter().position(|known| known.eq_ignore_ascii_case(text));
    let offset = u32::from(what == "the month");
    match position {
        Some(position) => u32::try_from(position).ok().map(|position| position + offset),
        None => text.parse().ok(),
    }
}
