//! Names that fit beside a bar, and still tell bars apart.

use std::collections::{BTreeMap, BTreeSet};

use trainwright_analysis::Analysis;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that fit beside a horizontal bar, of about seven pixels each.
pub(super) const BESIDE_A_BAR: usize = 21;
/// Columns that all labels below an axis of a panel have together.
pub(super) const ALONG_THE_AXIS: usize = 34;
/// The same of a narrow panel, and the columns of its heading.
pub(super) const NARROW: usize = 18;
/// Columns of a panel's heading.
pub(super) const HEADING: usize = 46;
/// Columns below which a label says nothing.
const LEAST: usize = 6;
/// Significant digits of a number that is shortened, at most.
const MOST_DIGITS: usize = 6;

/// Every name in at most `room` columns, and no two names of different texts alike.
///
/// A long number is rounded, a long name keeps its two ends. Where names share both, what they have
/// in common goes first, and as the last resort they are numbered.
pub(super) fn labels(names: &[String], room: usize) -> Vec<String> {
    let room = room.max(LEAST);
    let names = &rounded(names, room);
    let mut short: Vec<String> = names.iter().map(|name| shortened(name, room)).collect();
    let mut alike: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (label, name) in short.iter().zip(names) {
        let group = alike.entry(label).or_default();
        if !group.contains(&name.as_str()) {
            group.push(name);
        }
    }
    let told: BTreeMap<&str, String> = alike
        .into_values()
        .filter(|group| group.len() > 1)
        .flat_map(|group| group.clone().into_iter().zip(apart(&group, room)))
        .collect();
    for (label, name) in short.iter_mut().zip(names) {
        if let Some(other) = told.get(name.as_str()) {
            label.clone_from(other);
        }
    }
    numbered(names, short, room)
}

/// Numbers labels that stand for another name already.
fn numbered(names: &[String], mut short: Vec<String>, room: usize) -> Vec<String> {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        if taken.get(&short[at]).is_some_and(|other| other != name) {
            let number = format!("{} ", at + 1);
            let left = room.saturating_sub(number.width());
            short[at] = number + &shortened(name, left.max(LEAST));
        }
        taken.insert(short[at].clone(), name);
    }
    short
}

/// Numbers that are too wide with as many significant digits as fit, where that tells them apart.
fn rounded(names: &[String], room: usize) -> Vec<String> {
    let number = |name: &str| -> Option<f64> {
        let value = name.parse::<f64>().ok().filter(|own| own.is_finite());
        value.filter(|_| name.width() > room)
    };
    let different = names.iter().collect::<BTreeSet<_>>().len();
    let with = |digits: usize| -> Option<Vec<String>> {
        let of = |name: &String| match number(name) {
            Some(value) => with_digits(value, digits),
            None => name.clone(),
        };
        let own: Vec<String> = names.iter().map(of).collect();
        let fit = names.iter().zip(&own).all(|(name, own)| own == name || own.width() <= room);
        (fit && own.iter().collect::<BTreeSet<_>>().len() == different).then_some(own)
    };
    let is_needed = names.iter().any(|name| number(name).is_some());
    let found = is_needed.then(|| (1..=MOST_DIGITS).rev().find_map(with)).flatten();
    found.unwrap_or_else(|| names.to_vec())
}

/// A number with so many significant digits, in the shorter of its two forms.
fn with_digits(value: f64, digits: usize) -> String {
    let text = format!("{value:.*e}", digits - 1);
    let value: f64 = text.parse().expect("a formatted number reads back");
    let (plain, with_exponent) = (value.to_string(), format!("{value:e}"));
    if with_exponent.len() < plain.len() { with_exponent } else { plain }
}

/// Settings of every row as `name=value`, in at most `room` columns and told apart.
///
/// Where there is no room all names and values give way alike, so that a short value stays whole;
/// then the last settings are left out, and those that do not tell rows apart.
pub(super) fn settings_labels(rows: &[Settings], room: usize) -> Vec<String> {
    let whole = joined(rows, usize::MAX);
    let different = whole.iter().collect::<BTreeSet<_>>().len();
    let fit = |own: &Vec<String>| {
        own.iter().collect::<BTreeSet<_>>().len() == different
            && own.iter().all(|label| label.width() <= room)
    };
    if fit(&whole) {
        return whole;
    }
    let most = rows.iter().map(Vec::len).max().unwrap_or(0);
    let first = (1..=most).rev().map(|count| parts(rows, |row| &row[..row.len().min(count)]));
    let single = (1..most).map(|at| parts(rows, |row| row.get(at..=at).unwrap_or_default()));
    first
        .chain(single)
        .find_map(|own| narrowest(rows, &own, room, fit))
        .unwrap_or_else(|| labels(&whole, room))
}

/// Settings of a row: names and values.
type Settings = Vec<(String, String)>;

/// A part of the settings of every row.
fn parts(rows: &[Settings], of: impl Fn(&Settings) -> &[(String, String)]) -> Vec<Settings> {
    rows.iter().map(|row| of(row).to_vec()).collect()
}

/// Labels of the widest names and values that fit, with a mark where settings are left out.
fn narrowest(
    rows: &[Settings],
    shown: &[Settings],
    room: usize,
    fit: impl Fn(&Vec<String>) -> bool,
) -> Option<Vec<String>> {
    let texts = shown.iter().flatten();
    let longest = texts.map(|(name, level)| name.width().max(level.width())).max()?;
    let marked = |part: usize| -> Vec<String> {
        let all = joined(shown, part).into_iter().zip(rows.iter().zip(shown));
        let mark = |(label, (row, own)): (String, (&Settings, &Settings))| {
            if row.len() > own.len() { label + " …" } else { label }
        };
        all.map(mark).collect()
    };
    (LEAST..=longest.min(room).max(LEAST)).rev().map(marked).find(fit)
}

/// The settings of each row with names and values in at most `part` columns.
fn joined(rows: &[Settings], part: usize) -> Vec<String> {
    let short = |of: fn(&(String, String)) -> &String| -> BTreeMap<String, String> {
        let own: BTreeSet<&String> = rows.iter().flatten().map(of).collect();
        let own: Vec<String> = own.into_iter().cloned().collect();
        let short = labels(&own, part);
        own.into_iter().zip(short).collect()
    };
    let (names, levels) = (short(|pair| &pair.0), short(|pair| &pair.1));
    let word = |(name, level): &(String, String)| format!("{}={}", names[name], levels[level]);
    rows.iter().map(|row| row.iter().map(word).collect::<Vec<_>>().join(" ")).collect()
}

/// The label of a factor among all that an analysis has, so that panels beside each other differ.
pub(super) fn factor_label(analysis: &Analysis, name: &str, room: usize) -> String {
    let names: Vec<String> = analysis.main_effects.iter().map(|own| own.factor.clone()).collect();
    let at = names.iter().position(|own| own == name);
    at.map_or_else(|| shortened(name, room), |at| labels(&names, room).swap_remove(at))
}

/// A name with its middle left out where it is wider than `room`.
pub(super) fn shortened(name: &str, room: usize) -> String {
    if name.width() <= room {
        return name.to_owned();
    }
    let front = fitting(name.chars(), (room - 1).div_ceil(2));
    let back = fitting(name.chars().rev(), (room - 1) / 2);
    format!("{front}…{}", back.chars().rev().collect::<String>())
}

/// Names without the beginning and the end that all of them share.
fn apart(names: &[&str], room: usize) -> Vec<String> {
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let least = letters.iter().map(Vec::len).min().unwrap_or(0);
    let first = &letters[0];
    let begin = (0..least).take_while(|&at| letters.iter().all(|own| own[at] == first[at])).count();
    let end = (0..least - begin)
        .take_while(|&at| {
            letters.iter().all(|own| own[own.len() - 1 - at] == first[first.len() - 1 - at])
        })
        .count();
    // A few letters of what comes before say what differs, where there is room for them.
    let middle = |own: &Vec<char>, before: usize, mark: &str| {
        let from = begin.saturating_sub(before);
        let text: String = own[from..own.len() - end].iter().collect();
        let (front, back) = (if from > 0 { mark } else { "" }, if end > 0 { mark } else { "" });
        format!("{front}{text}{back}")
    };
    [(4, "…"), (2, "…"), (0, "…"), (0, "")]
        .into_iter()
        .map(|(before, mark)| letters.iter().map(|own| middle(own, before, mark)).collect())
        .find(|own: &Vec<String>| {
            own.iter().all(|label| label.width() <= room && !label.is_empty())
        })
        .unwrap_or_else(|| letters.iter().map(|own| shortened(&middle(own, 0, ""), room)).collect())
}

fn fitting(letters: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used <= room
    };
    letters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(names: &[&str], room: usize) -> Vec<String> {
        labels(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), room)
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(of(&["learning_rate_of_the_first_phase", "lr"], 13), ["learni…_phase", "lr"]);
        assert_eq!(of(&["学習率の初期値と最終値"], 13), ["学習率…最終値"]);
    }

    #[test]
    fn names_that_share_both_ends_show_what_differs() {
        let names: Vec<String> = (1..=8)
            .map(|at| format!("a_name_that_is_very_long_{at}_and_ends_like_the_others"))
            .collect();
        let short = labels(&names, 13);
        assert_eq!(short[2], "…ong_3…");
        assert_eq!(short.iter().collect::<BTreeSet<_>>().len(), 8, "{short:?}");
    }

    #[test]
    fn names_of_settings_give_way_and_short_values_stay() {
        let row = |lr: &str, kind: &str| {
            [("learning_rate_of_the_second_stage", lr), ("batch", "16"), ("optimizer", kind)]
                .map(|(name, level)| (name.to_owned(), level.to_owned()))
                .to_vec()
        };
        let rows = [row("0.1", "sgd"), row("0.01", "sgd"), row("0.01", "adam with decay")];
        assert_eq!(
            settings_labels(&rows, 36),
            [
                "lea…ge=0.1 batch=16 opt…er=sgd",
                "lea…ge=0.01 batch=16 opt…er=sgd",
                "lea…ge=0.01 batch=16 opt…er=ada…ay",
            ]
        );
        assert_eq!(settings_labels(&rows[..1], 80), [joined(&rows[..1], 99)[0].clone()]);
        assert_eq!(settings_labels(&[], 36), Vec::<String>::new());
    }

    #[test]
    fn long_numbers_are_rounded_and_keep_their_size() {
        assert_eq!(of(&["0.00316227766017", "0.01"], 6), ["0.0032", "0.01"]);
        assert_eq!(of(&["0.00316227766017"], 12), ["0.00316228"]);
        assert_eq!(of(&["0.0000000123456", "0.1"], 6), ["1.2e-8", "0.1"]);
        // Two numbers that rounding would make one keep what tells them apart.
        let near = of(&["0.123456789", "0.123456788"], 7);
        assert_ne!(near[0], near[1]);
    }

    #[test]
    fn in_little_room_what_differs_stands_alone() {
        let names = ["variety_one_thing", "variety_two_thing", "variety_six_thing"];
        assert_eq!(of(&names, 6), ["…one…", "…two…", "…six…"]);
        assert_eq!(of(&["kind_first_x", "kind_second_x"], 6), ["first", "second"]);
    }

    #[test]
    fn settings_that_do_not_fit_are_left_out_from_the_end() {
        let row = |width: &str, rate: &str| {
            [("width", width), ("rate", rate), ("optimizer", "adam"), ("momentum", "0.9")]
                .map(|(name, level)| (name.to_owned(), level.to_owned()))
                .to_vec()
        };
        let rows = [row("1320", "0.00316227766017"), row("64", "0.001")];
        assert_eq!(
            settings_labels(&rows, 24),
            ["width=1320 rate=0.0032 …", "width=64 rate=0.001 …"]
        );
        let same = [row("64", "0.00316227766017"), row("64", "0.001")];
        assert_eq!(settings_labels(&same, 15), ["rate=0.003162 …", "rate=0.001 …"]);
    }

    proptest! {
        #[test]
        fn labels_fit_and_tell_names_apart(
            names in prop::collection::btree_set("[ab日]{0,40}", 1..9), room in 6usize..30,
        ) {
            let names: Vec<String> = names.into_iter().collect();
            let short = labels(&names, room);
            prop_assert!(short.iter().all(|own| own.width() <= room.max(8)), "{short:?}");
            let different: BTreeSet<&String> = short.iter().collect();
            prop_assert_eq!(different.len(), names.len(), "{:?}", short);
        }
    }
}
