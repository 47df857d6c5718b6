//! Lists of machine types with what they offer and cost.

use std::path::Path;

use serde::{Deserialize, Serialize};
use trainwright_search::cloud::{Candidate, Limits, Machine, Objective, Problem};

use crate::Error;

/// Machine types, when they cost that and who says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// The day that the prices are of.
    pub date: String,
    /// Where they come from.
    pub source: String,
    /// The types.
    pub machines: Vec<Machine>,
}

/// The catalogue that comes with the program: 12 types of one region.
const SMALL: &str = include_str!("../../catalogs/aws-us-east-1-2025.csv");

/// Reads a catalogue, or the one that comes with the program, and checks it.
///
/// # Errors
/// A file that cannot be read, a column, date or source that is missing, or a value that is none.
pub fn catalog(file: Option<&Path>) -> Result<Catalog, Error> {
    let Some(path) = file else { return parse_csv(Path::new("the built-in catalogue"), SMALL) };
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Input { path: path.to_owned(), source })?;
    let json = path.extension().is_some_and(|own| own == "json");
    let own = if json { parse_json(path, &text)? } else { parse_csv(path, &text)? };
    check(path, &own)?;
    Ok(own)
}

fn fault(file: &Path, message: String) -> Error {
    Error::CloudFile { file: file.to_owned(), message }
}

fn parse_json(file: &Path, text: &str) -> Result<Catalog, Error> {
    serde_json::from_str(text).map_err(|source| fault(file, source.to_string()))
}

/// Lines `# date: ...` and `# source: ...` stand before the table.
fn parse_csv(file: &Path, text: &str) -> Result<Catalog, Error> {
    let note = |name: &str| {
        let line = text.lines().filter_map(|line| line.strip_prefix('#')).find_map(|line| {
            line.trim().strip_prefix(name)?.strip_prefix(':').map(str::trim).map(str::to_owned)
        });
        line.filter(|own| !own.is_empty()).ok_or_else(|| {
            fault(file, format!("there is no line `# {name}: ...` before the table; add one"))
        })
    };
    let (date, source) = (note("date")?, note("source")?);
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let machines: Result<Vec<Machine>, csv::Error> = reader.deserialize().collect();
    let machines = machines.map_err(|source| fault(file, source.to_string()))?;
    Ok(Catalog { date, source, machines })
}

fn check(file: &Path, own: &Catalog) -> Result<(), Error> {
    for machine in &own.machines {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        if machine.vm_type.is_empty() || !machine.vm_type.chars().all(plain) {
            let name = &machine.vm_type;
            let message = format!(
                "the type `{name}` has other characters than letters, digits, dots and dashes"
            );
            return Err(fault(file, message));
        }
    }
    let all = own.candidates(&[1]);
    Problem::new(all, Objective::Cost, Limits::default())
        .map_err(|error| fault(file, error.to_string()))?;
    Ok(())
}

impl Catalog {
    /// Every type with every number of nodes.
    pub(crate) fn candidates(&self, nodes: &[u32]) -> Vec<Candidate> {
        let with = |machine: &Machine| {
            let machine = machine.clone();
            nodes.iter().map(move |&nodes| Candidate { machine: machine.clone(), nodes })
        };
        self.machines.iter().flat_map(with).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# date: 2020-01-01\n# source: a price list\n";

    fn parsed(text: &str) -> Result<Catalog, String> {
        let file = Path::new("c.csv");
        let own = parse_csv(file, text).map_err(|error| error.to_string())?;
        check(file, &own).map_err(|error| error.to_string())?;
        Ok(own)
    }

    #[test]
    fn the_built_in_catalogue_is_in_order() {
        let own = catalog(None).unwrap();
        assert_eq!(own.machines.len(), 12);
        check(Path::new("built-in"), &own).unwrap();
        assert_eq!(own.candidates(&[1, 4]).len(), 24);
    }

    #[test]
    fn a_table_and_json_say_the_same() {
        let text = format!(
            "{HEAD}vm_type,vcpus,memory_gib,price_usd_per_hour,cpu_ghz\na.large,2,4,0.1,2.5\n"
        );
        let own = parsed(&text).unwrap();
        assert_eq!((own.date.as_str(), own.machines[0].cpu_ghz), ("2020-01-01", Some(2.5)));
        let json = serde_json::to_string(&own).unwrap();
        assert_eq!(parse_json(Path::new("c.json"), &json).unwrap(), own);
    }

    #[test]
    fn faults_name_the_place_and_the_value() {
        let head = "vm_type,vcpus,memory_gib,price_usd_per_hour\n";
        let no_date = parsed(&format!("{head}a,2,4,0.1\n")).unwrap_err();
        assert!(no_date.contains("there is no line `# date: ...`"), "{no_date}");
        let free = parsed(&format!("{HEAD}{head}a,2,4,0\n")).unwrap_err();
        assert!(free.contains("price_usd_per_hour of `a` is 0"), "{free}");
        let word = parsed(&format!("{HEAD}{head}a,two,4,0.1\n")).unwrap_err();
        assert!(word.contains("c.csv") && word.contains("line: 4"), "{word}");
        let name = parsed(&format!("{HEAD}{head}a;rm,2,4,0.1\n")).unwrap_err();
        assert!(name.contains("`a;rm` has other characters"), "{name}");
        let twice = parsed(&format!("{HEAD}{head}a,2,4,0.1\na,2,4,0.1\n")).unwrap_err();
        assert!(twice.contains("`a` is listed twice"), "{twice}");
    }
}
