//! What binds each configuration of a study, as a table.

use trainwright_analysis::wording::{brief, percent};
use trainwright_analysis::{Analysis, Binding, ConfigurationBottleneck};

use super::verdict::put;
use super::{Colour, TextTable};

/// Configurations that are listed; the finding tells of all.
const MOST: usize = 24;

/// The table, where trials' use of the machine is known.
pub(super) fn put_bottlenecks(text: &mut String, analysis: &Analysis, colour: Colour) {
    let all = &analysis.bottlenecks;
    if all.is_empty() {
        return;
    }
    put(text, &format!("\n{}", colour.heading("What binds")));
    let head = ["configuration", "binds", "would save", "cores", "network MB/s", "disk MB/s"];
    let mut table = TextTable::with_header(head).numbers_in(2..6);
    for own in all.iter().take(MOST) {
        let [binds, saves] = verdict(own);
        let rates = [cores(own), network_mb_per_s(own), disk_mb_per_s(own)];
        let rates = rates.map(|rate| rate.map(brief).unwrap_or_default());
        let row = [own.configuration.to_string(), binds, saves].into_iter().chain(rates);
        table.row(row);
    }
    text.push_str(&table.to_string());
    if all.len() > MOST {
        put(text, &format!("  and {} configurations more", all.len() - MOST));
    }
}

/// The resource that binds and what it would save if it were free.
pub(crate) fn verdict(own: &ConfigurationBottleneck) -> [String; 2] {
    let bound = if own.attribution.at_most { "at most " } else { "" };
    match own.attribution.binding {
        Binding::Binds { resource, shrinks_by } => {
            [resource.in_words().to_owned(), format!("{bound}{}", percent(100.0 * shrinks_by))]
        }
        Binding::Balanced => ["nothing alone".to_owned(), String::new()],
        Binding::NotAccounted => ["not known".to_owned(), String::new()],
    }
}

/// Cores in use on average.
pub(crate) fn cores(own: &ConfigurationBottleneck) -> Option<f64> {
    (own.usage.wall_s > 0.0).then(|| own.usage.cpu_s / own.usage.wall_s)
}

/// Bytes over the network and loopback.
pub(crate) fn network_mb_per_s(own: &ConfigurationBottleneck) -> Option<f64> {
    let outside = own.usage.received_bytes.max(own.usage.sent_bytes);
    let all = outside.zip(own.usage.loopback_bytes).map(|(outside, inside)| outside + inside);
    rate(own, all)
}

/// Bytes read from and written to the disk.
pub(crate) fn disk_mb_per_s(own: &ConfigurationBottleneck) -> Option<f64> {
    let (read, written) = (own.usage.disk_read_bytes, own.usage.disk_write_bytes);
    rate(own, read.zip(written).map(|(read, written)| read + written))
}

fn rate(own: &ConfigurationBottleneck, bytes: Option<u64>) -> Option<f64> {
    let wall = Some(own.usage.wall_s).filter(|wall| *wall > 0.0)?;
    bytes.map(|bytes| bytes as f64 / wall / 1e6)
}

#[cfg(test)]
pub(crate) mod tests {
    use trainwright_analysis::{UsageAccount, attribute_usage};

    use super::*;
    use crate::tests::{analysis, configuration};

    /// A configuration whose trial took four seconds and used so many CPU seconds.
    pub(crate) fn bottleneck(cpu_s: f64) -> ConfigurationBottleneck {
        let usage = UsageAccount {
            wall_s: 4.0,
            cpu_s,
            received_bytes: Some(8_000_000),
            sent_bytes: Some(2_000_000),
            loopback_bytes: Some(0),
            ..UsageAccount::default()
        };
        let attribution = attribute_usage(&usage, None).unwrap();
        let (configuration, trials) = (configuration(1, 10), vec![3]);
        ConfigurationBottleneck { configuration, trials, attribution, usage }
    }

    #[test]
    fn the_table_names_what_binds_with_rates_that_are_known() {
        let mut text = String::new();
        let none = analysis(vec![]);
        put_bottlenecks(&mut text, &none, Colour::Never);
        assert_eq!(text, "");
        let all = Analysis { bottlenecks: vec![bottleneck(4.0); MOST + 2], ..none };
        put_bottlenecks(&mut text, &all, Colour::Never);
        assert!(text.starts_with("\nWhat binds\n"), "{text}");
        let row = text.lines().find(|line| line.contains("a=1 b=10")).unwrap();
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words[2..], ["the", "processor", "at", "most", "100.0", "%", "1", "2"], "{row}");
        assert!(text.ends_with("  and 2 configurations more\n"), "{text}");
    }
}
