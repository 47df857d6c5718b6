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

/// Every name in at most `room` columns, and no two names of different texts alike.
///
/// A long name keeps its two ends. Where names share both, what they have in common goes first, and
/// as the last resort they are numbered.
pub(super) fn labels(names: &[String], room: usize) -> Vec<String> {
    let room = room.max(LEAST);
    let mut short: Vec<String> = names.iter().map(|name| shortened(name, room)).collect();
    for at in 0..names.len() {
        let alike: Vec<usize> = (0..names.len())
            .filter(|&other| short[other] == short[at] && names[other] != names[at])
            .chain([at])
            .collect();
        if alike.len() > 1 {
            let group: Vec<&str> = alike.iter().map(|&own| names[own].as_str()).collect();
            for (&own, label) in alike.iter().zip(apart(&group, room)) {
                short[own] = label;
            }
        }
    }
    for at in 0..names.len() {
        let seen = |other: usize| short[other] == short[at] && names[other] != names[at];
        if (0..at).any(seen) {
            let number = format!("{} ", at + 1);
            let left = room.saturating_sub(number.width());
            short[at] = number + &shortened(&names[at], left.max(LEAST));
        }
    }
    short
}

/// Settings of every row as `name=value`, in at most `room` columns and told apart.
///
/// Where there is no room all names and values give way alike, so that a short value stays whole.
pub(super) fn settings_labels(rows: &[Vec<(String, String)>], room: usize) -> Vec<String> {
    let longest = rows.iter().flatten().map(|(name, level)| name.width().max(level.width())).max();
    let whole = joined(rows, usize::MAX);
    let fits = |own: &Vec<String>| {
        let seen: BTreeSet<_> = own.iter().collect();
        seen.len() == whole.iter().collect::<BTreeSet<_>>().len()
            && own.iter().all(|label| label.width() <= room)
    };
    let narrower = (LEAST..longest.unwrap_or(LEAST)).rev().map(|part| joined(rows, part));
    std::iter::once(whole.clone())
        .chain(narrower)
        .find(fits)
        .unwrap_or_else(|| labels(&whole, room))
}

/// The settings of each row with names and values in at most `part` columns.
fn joined(rows: &[Vec<(String, String)>], part: usize) -> Vec<String> {
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
    let middle = |own: &Vec<char>| {
        // A few letters of what comes before say what differs.
        let from = begin.saturating_sub(4);
        let own: String = own[from..own.len() - end].iter().collect();
        let own = if from > 0 { format!("…{own}") } else { own };
        let own = if end > 0 { format!("{own}…") } else { own };
        shortened(&own, room)
    };
    letters.iter().map(middle).collect()
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
