//! The table of clusters at the top of `diff` and `explain`.

use super::Shown;

const HEAD: [&str; 4] = ["CLUSTER", "REPLICAS", "HOSTS", "RULES"];

/// A row for each cluster: its replicas, the allocations that it hosts, the rules that changed something.
pub(super) fn clusters(shown: &[Shown<'_>]) -> String {
    let rows: Vec<[String; 4]> =
        std::iter::once(HEAD.map(str::to_owned)).chain(shown.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [0, 1, 2].map(width);
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 2));
        }
        text.push_str(&row[3]);
        text.push('\n');
    }
    text
}

fn row(shown: &Shown<'_>) -> [String; 4] {
    let listed = |names: &[String]| if names.is_empty() { "-".to_owned() } else { names.join(", ") };
    let (hosts, rules) = match &shown.revised {
        Ok(version) => (listed(&version.hosts), listed(&version.applied)),
        Err(_) => ("-".to_owned(), "refused".to_owned()),
    };
    [shown.cluster.to_string(), shown.replicas.to_string(), hosts, rules]
}
