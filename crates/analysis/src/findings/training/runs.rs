//! Training runs as columns known by name, in seconds and bytes.

use trainwright_study::{Level, Observation, Study, seconds_per};

use crate::csv_table::{Column, Table};

/// What a column means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Updates made.
    Steps,
    /// Examples a step.
    Batch,
    /// Passes, as the user counts them.
    Epochs,
    /// Examples in the training data.
    Examples,
    /// Learning rate.
    Rate,
    /// Time of the whole run.
    Seconds,
    /// Time of one step.
    StepSeconds,
    /// Bytes over the network.
    NetworkBytes,
    /// Speed of the link.
    LinkBitsPerS,
}

impl Role {
    /// Names without unit.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Steps => &["steps", "iterations", "updates", "n_steps", "num_steps"],
            Self::Batch => &["batch", "batch_size", "batchsize", "global_batch"],
            Self::Epochs => &["epochs", "n_epochs", "num_epochs", "max_epochs"],
            Self::Examples => {
                &["examples", "train_examples", "dataset_size", "train_size", "n_train"]
            }
            Self::Rate => &["lr", "learning_rate", "rate"],
            Self::Seconds => &["time", "wall", "wall_time", "total_time", "train_time", "duration"],
            Self::StepSeconds => &["step_time", "time_per_step"],
            Self::NetworkBytes => &["network", "network_bytes", "bytes_sent", "bytes"],
            Self::LinkBitsPerS => &["link"],
        }
    }

    /// Units in which a column of this role may stand, with their size.
    fn unit(self, unit: &str) -> Option<f64> {
        match self {
            Self::Seconds | Self::StepSeconds => seconds_per(unit),
            Self::NetworkBytes => match unit {
                "bytes" | "b" => Some(1.0),
                "kb" => Some(1e3),
                "mb" => Some(1e6),
                "gb" => Some(1e9),
                _ => None,
            },
            Self::LinkBitsPerS => match unit {
                "bps" => Some(1.0),
                "mbps" => Some(1e6),
                "gbps" => Some(1e9),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether values mean nothing without a unit.
    fn needs_unit(self) -> bool {
        matches!(self, Self::Seconds | Self::StepSeconds | Self::LinkBitsPerS)
    }
}

/// Columns of numbers and texts, one row a run.
pub(super) struct Runs {
    rows: usize,
    numbers: Vec<Named>,
    /// Columns of texts.
    texts: Vec<Vec<String>>,
}

struct Named {
    /// Name in small letters, with `_` for anything else.
    name: String,
    unit: Option<String>,
    values: Vec<Option<f64>>,
}

impl Runs {
    pub(super) fn of_table(table: &Table) -> Self {
        let mut runs = Self { rows: table.rows(), numbers: vec![], texts: vec![] };
        for name in table.names() {
            match table.column(name).expect("the table lists its own columns") {
                Column::Numeric(values) => runs.push(name, None, values.clone()),
                Column::Categorical(values) => {
                    let text = |cell: &Option<String>| cell.clone().unwrap_or_default();
                    runs.texts.push(values.iter().map(text).collect());
                }
            }
        }
        runs
    }

    pub(super) fn of_study(study: &Study, finished: &[&Observation]) -> Self {
        let mut runs = Self { rows: finished.len(), numbers: vec![], texts: vec![] };
        for factor in &study.factors {
            let levels = finished.iter().map(|o| o.configuration.get(&factor.name));
            if factor.is_numeric() {
                let values = levels.map(|level| level.and_then(Level::number)).collect();
                runs.push(&factor.name, None, values);
            } else {
                let text = |level: Option<&Level>| level.map(Level::to_string).unwrap_or_default();
                runs.texts.push(levels.map(text).collect());
            }
        }
        for metric in &study.metrics {
            let values = finished.iter().map(|o| o.values.get(&metric.name).copied()).collect();
            runs.push(&metric.name, metric.unit.as_deref(), values);
        }
        runs
    }

    fn push(&mut self, name: &str, unit: Option<&str>, values: Vec<Option<f64>>) {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let name = name.chars().map(plain).collect();
        self.numbers.push(Named { name, unit: unit.map(str::to_lowercase), values });
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Names of the columns of numbers.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.numbers.iter().map(|own| own.name.as_str())
    }

    /// A column by its plain name.
    pub(super) fn column(&self, name: &str) -> Option<&[Option<f64>]> {
        self.numbers.iter().find(|own| own.name == name).map(|own| own.values.as_slice())
    }

    /// All texts of a row.
    pub(super) fn texts(&self, row: usize) -> String {
        self.texts.iter().map(|column| column[row].as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The first column of a role, in the role's base unit.
    pub(super) fn role(&self, role: Role) -> Option<Vec<Option<f64>>> {
        self.numbers.iter().find_map(|own| {
            let factor = own.factor(role)?;
            Some(own.values.iter().map(|value| value.map(|v| v * factor)).collect())
        })
    }

    /// Rows that have values of all roles.
    pub(super) fn together<const N: usize>(
        &self,
        roles: [Role; N],
    ) -> impl Iterator<Item = [f64; N]> + use<N> {
        let columns = roles.map(|role| self.role(role));
        let rows = if columns.iter().all(Option::is_some) { self.rows } else { 0 };
        (0..rows).filter_map(move |row| {
            let mut found = [0.0; N];
            for (place, column) in found.iter_mut().zip(&columns) {
                *place = column.as_ref()?[row]?;
            }
            Some(found)
        })
    }
}

impl Named {
    /// Size of the column's unit, if the column plays the role.
    fn factor(&self, role: Role) -> Option<f64> {
        let known = |name: &str| role.names().contains(&name);
        let by_suffix = self
            .name
            .rsplit_once('_')
            .and_then(|(name, unit)| role.unit(unit).filter(|_| known(name)));
        let told = self.unit.as_deref().and_then(|unit| role.unit(unit));
        match (by_suffix, known(&self.name)) {
            (Some(factor), _) => Some(factor),
            (None, true) if role.needs_unit() => told,
            (None, true) => Some(told.unwrap_or(1.0)),
            (None, false) => None,
        }
    }
}
