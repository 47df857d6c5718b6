//! Quantities in few words.

/// A time such as `3 min` or `2.5 h`.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        own if own < 1.0 => "under a second".to_owned(),
        own if own < 100.0 => format!("{own:.0} s"),
        own if own < 6_000.0 => format!("{:.0} min", own / 60.0),
        own if own < 360_000.0 => format!("{:.1} h", own / 3600.0),
        own => format!("{:.1} days", own / 86_400.0),
    }
}

/// A size such as `12 kB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        own if own < 1_000 => format!("{own} B"),
        own if own < 1_000_000 => format!("{:.1} kB", own as f64 / 1e3),
        own if own < 1_000_000_000 => format!("{:.1} MB", own as f64 / 1e6),
        own => format!("{:.1} GB", own as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_unit_that_suits_them() {
        assert_eq!(
            [0.2, 42.0, 240.0, 9_000.0, 432_000.0].map(time),
            ["under a second", "42 s", "4 min", "2.5 h", "5.0 days"]
        );
        assert_eq!(
            [12, 1_500, 2_000_000, 3_100_000_000].map(size),
            ["12 B", "1.5 kB", "2.0 MB", "3.1 GB"]
        );
    }

    #[test]
    fn units_change_where_they_are_said_to() {
        assert_eq!(
            [0.0, 0.99, 1.0, 99.4, 100.0, 5_999.0, 6_000.0, 359_999.0, 360_000.0].map(time),
            [
                "under a second",
                "under a second",
                "1 s",
                "99 s",
                "2 min",
                "100 min",
                "1.7 h",
                "100.0 h",
                "4.2 days"
            ]
        );
        assert_eq!([0, 999, 1_000, 1_000_000].map(size), ["0 B", "999 B", "1.0 kB", "1.0 MB"]);
    }
}
