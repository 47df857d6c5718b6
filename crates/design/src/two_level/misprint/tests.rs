use proptest::prelude::*;

use super::*;
use crate::TwoLevelFraction;

fn fraction(factors: usize, runs: u32) -> Vec<Vec<i8>> {
    TwoLevelFraction::with_runs(factors, runs).unwrap().rows().to_vec()
}

#[track_caller]
fn check_silent(rows: &[Vec<i8>]) {
    assert_eq!(check_table(rows).unwrap(), None);
}

#[test]
fn the_printed_table_of_field_report_d_is_wrong_in_row_11() {
    let mut rows = fraction(6, 32);
    assert_eq!(rows[10], [-1, 1, -1, 1, -1, -1]);
    rows[10] = vec![-1, 1, -1, -1, -1, -1];
    let misprint = check_table(&rows).unwrap().unwrap();
    assert_eq!(misprint.repairs, [SignFlip { row: 11, column: 4, sign: 1 }]);
    assert_eq!(misprint.unbalanced, [UnbalancedColumn { column: 4, sum: -2 }]);
    assert_eq!(misprint.words, [BrokenWord { word: "ABCDEF".into(), rows: vec![11] }]);
    assert_eq!(
        misprint.to_string(),
        "the table looks like a regular fraction with a wrong sign: row 11 breaks I = ABCDEF; \
         column D sums to -2; it is regular with D = +1 in row 11"
    );
}

#[test]
fn right_tables_stay_silent() {
    for factors in 1..=9usize {
        for base in 1..=factors {
            if factors < 1 << base {
                let rows = fraction(factors, 1 << base);
                check_silent(&rows);
                check_silent(&[rows.clone(), rows].concat());
            }
        }
    }
    check_silent(&[]);
}

#[test]
fn fractions_with_missing_rows_stay_silent() {
    let mut rows = fraction(6, 32);
    rows.drain(1..3);
    check_silent(&rows);
}

#[test]
fn one_factor_at_a_time_is_no_misprint() {
    for factors in 2..=12 {
        let mut rows = vec![vec![-1i8; factors]];
        for factor in 0..factors {
            let mut row = vec![-1; factors];
            row[factor] = 1;
            rows.push(row);
        }
        check_silent(&rows);
    }
}

#[test]
fn random_tables_stay_silent() {
    // Fixed seeds, because by chance a random table may look like a misprint now and then.
    for case in 0..500u64 {
        let seed = trainwright_study::Seed::new(case);
        let (columns, rows) = (3 + case as usize % 5, 16 + case as usize % 23);
        let sign = |row: usize, column: usize| {
            let bit = seed.derive(row as u64).derive(column as u64).value() >> 63;
            if bit == 1 { 1 } else { -1 }
        };
        let table: Vec<Vec<i8>> =
            (0..rows).map(|row| (0..columns).map(|column| sign(row, column)).collect()).collect();
        check_silent(&table);
    }
}

#[test]
fn two_wrong_rows_are_named_though_no_single_flip_repairs_them() {
    let mut rows = fraction(6, 32);
    rows[4][2] *= -1;
    rows[20][5] *= -1;
    let misprint = check_table(&rows).unwrap().unwrap();
    assert_eq!(misprint.words, [BrokenWord { word: "ABCDEF".into(), rows: vec![5, 21] }]);
    assert_eq!(misprint.unbalanced.len(), 2);
    assert!(misprint.repairs.is_empty());
    assert!(misprint.to_string().contains("rows 5 and 21 break I = ABCDEF"));
}

#[test]
fn what_is_no_sign_table_is_an_error() {
    assert_eq!(
        check_table(&[vec![1, -1], vec![1]]).unwrap_err(),
        DesignError::Ragged { row: 2, columns: 1, expected: 2 }
    );
    assert_eq!(
        check_table(&[vec![1, 0]]).unwrap_err(),
        DesignError::NotASign { row: 1, column: 2, value: 0 }
    );
    assert_eq!(
        check_table(&[vec![1; 21]]).unwrap_err(),
        DesignError::TooManyColumns { columns: 21, most: MOST_COLUMNS }
    );
}

proptest! {
    #[test]
    fn any_single_flip_is_found(
        (factors, base) in (4usize..9).prop_flat_map(|k| (Just(k), 3usize..k)),
        row in any::<prop::sample::Index>(),
        column in any::<prop::sample::Index>(),
        order in any::<u64>(),
    ) {
        let Ok(fraction) = TwoLevelFraction::with_runs(factors, 1 << base) else {
            return Ok(());
        };
        prop_assume!(fraction.resolution() >= Some(4));
        let mut rows = trainwright_study::Seed::new(order).shuffled(fraction.rows().to_vec());
        let (row, column) = (row.index(rows.len()), column.index(factors));
        let flip = SignFlip { row: row + 1, column: column + 1, sign: rows[row][column] };
        rows[row][column] *= -1;
        let misprint = check_table(&rows).unwrap();
        prop_assert_eq!(misprint.unwrap().repairs, [flip]);
    }

    #[test]
    fn a_flip_in_a_column_outside_all_words_is_among_the_candidates(
        row in 0usize..16, generator in prop::sample::select(vec!["D=ABC", "D=-ABC"]),
    ) {
        let mut rows =
            TwoLevelFraction::from_generators(5, &[generator]).unwrap().rows().to_vec();
        let flip = SignFlip { row: row + 1, column: 5, sign: rows[row][4] };
        rows[row][4] *= -1;
        let repairs = check_table(&rows).unwrap().unwrap().repairs;
        prop_assert!(repairs.contains(&flip), "{repairs:?}");
        prop_assert_eq!(repairs.len(), 2);
    }
}
