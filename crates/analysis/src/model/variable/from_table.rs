//! Variables read or computed from columns of a table.

use trainwright_stats::orthogonal_polynomials;

use super::{InProducts, Origin, Polynomials, Variable};
use crate::csv_table::{Column, Table};
use crate::error::AnalysisError;
use crate::model::derived_columns::{self, Derived};

impl Variable {
    /// Reads the chosen rows of a table's column.
    pub(crate) fn from_table(
        table: &Table,
        name: &str,
        rows: &[usize],
    ) -> Result<Self, AnalysisError> {
        let empty = |row: usize| AnalysisError::EmptyFactor {
            line: table.line(row),
            column: name.to_owned(),
        };
        // A column may bear such a name itself.
        if let Some(derived) = Derived::of(name).filter(|_| table.names().all(|own| own != name)) {
            return Self::from_derived(table, name, derived, rows);
        }
        match table.column(name)? {
            Column::Numeric(cells) => {
                let values: Vec<f64> = rows
                    .iter()
                    .map(|&row| cells[row].ok_or_else(|| empty(row)))
                    .collect::<Result<_, _>>()?;
                Ok(Self::numeric(name, values))
            }
            Column::Categorical(cells) => {
                let texts: Vec<&str> = rows
                    .iter()
                    .map(|&row| cells[row].as_deref().ok_or_else(|| empty(row)))
                    .collect::<Result<_, _>>()?;
                Ok(Self::categorical(name, &texts))
            }
        }
    }

    /// Computes the chosen rows of what is no column of a table but made of some.
    fn from_derived(
        table: &Table,
        name: &str,
        derived: Derived,
        rows: &[usize],
    ) -> Result<Self, AnalysisError> {
        match derived {
            Derived::Computed(computed) => {
                let values = derived_columns::values(table, &computed, rows.iter().copied())?;
                let mut variable = Self::numeric(name, values);
                if let [column] = computed.names().into_iter().collect::<Vec<_>>().as_slice() {
                    let values = Self::from_table(table, column, rows)?.raw;
                    variable.origin = Origin::Computed { column: (*column).to_owned(), values };
                }
                Ok(variable)
            }
            Derived::Polynomial { column, degree } => {
                let variable = Self::from_table(table, &column, rows)?;
                let Some(values) = &variable.raw else {
                    let (expression, reason) =
                        (name.to_owned(), format!("column `{column}` holds texts"));
                    return Err(AnalysisError::NotComputable { expression, line: 1, reason });
                };
                let columns = orthogonal_polynomials(values, degree).map_err(|source| {
                    AnalysisError::Variable { variable: name.to_owned(), source }
                })?;
                let names = (1..=degree).map(|power| format!("{name}{power}")).collect();
                let polynomials = Polynomials { names, columns, in_products: InProducts::Whole };
                let (name, polynomials) = (name.to_owned(), Some(polynomials));
                let origin = Origin::Computed { column, values: variable.raw.clone() };
                Ok(Self { name, polynomials, origin, ..variable })
            }
            Derived::Category { column } => {
                let plain = Self::from_table(table, &column, rows)?;
                let (name, coded) = (name.to_owned(), plain.coded_as_category());
                let origin = Origin::Computed { column, values: None };
                Ok(Self { name, raw: None, coded, origin, ..plain })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(csv: &str, name: &str) -> Result<Variable, String> {
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let rows: Vec<usize> = (0..table.rows()).collect();
        Variable::from_table(&table, name, &rows).map_err(|error| error.to_string())
    }

    #[test]
    fn a_column_may_bear_the_name_of_a_function_of_another() {
        let csv = "x,log2(x)\n2,7\n8,9\n";
        assert_eq!(from(csv, "log2(x)").unwrap().raw.unwrap(), [7.0, 9.0], "the column itself");
        let computed = from("x\n2\n8\n", "log2(x)").unwrap();
        assert_eq!(computed.raw.as_ref().unwrap(), &[1.0, 3.0]);
        assert_eq!(computed.source(), "x");
        assert!(!computed.is_power_of_column());
        assert!(from("x\n2\n8\n", "I(x^3)").unwrap().is_power_of_column());
        assert!(!from("x,z\n2,1\n8,2\n", "I(x * z)").unwrap().is_power_of_column());
    }

    #[test]
    fn numbers_taken_as_categories_have_no_values() {
        let own = from("x\n10\n2\n10\n5\n", "factor(x)").unwrap();
        assert_eq!((own.raw, own.coded), (None, None), "three categories have no one column");
        assert_eq!(own.codes, [2, 0, 2, 1], "in the order of the numbers");
        let two = from("x\n10\n2\n10\n", "factor(x)").unwrap();
        assert_eq!(two.coded.unwrap(), [1.0, -1.0, 1.0]);
    }

    #[test]
    fn polynomials_are_orthogonal_to_the_mean_and_to_each_other() {
        let own = from("x\n1\n2\n4\n8\n9\n", "poly(x, 2)").unwrap();
        let found = own.polynomials.unwrap();
        assert_eq!(found.names, ["poly(x, 2)1", "poly(x, 2)2"]);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let ones = [1.0; 5];
        let [first, second] = [&found.columns[0], &found.columns[1]];
        for (a, b) in [(&ones[..], &first[..]), (&ones[..], &second[..]), (&first[..], &second[..])]
        {
            assert!(dot(a, b).abs() < 1e-12);
        }
        assert_eq!(
            from("g\na\nb\n", "poly(g, 1)").unwrap_err(),
            "`poly(g, 1)` has no value in line 1: column `g` holds texts"
        );
    }

    #[test]
    fn an_empty_cell_of_a_factor_is_refused_with_its_line() {
        let csv = "x,g\n1,a\n,b\n3,\n";
        let words = |line: u32, column: &str| {
            format!(
                "line {line}, column `{column}`: the cell is empty, but every row needs its factors"
            )
        };
        assert_eq!(from(csv, "x").unwrap_err(), words(3, "x"));
        assert_eq!(from(csv, "g").unwrap_err(), words(4, "g"));
    }
}
