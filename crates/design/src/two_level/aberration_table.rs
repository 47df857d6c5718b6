//! The fractions of least aberration for 3 to 12 factors, found once by the search in
//! `minimum_aberration.rs`, which the tests run again.

/// Base factors, and the products of them that the added factors equal: bit i stands for base
/// factor i.
const TABLE: [(usize, &[u32]); 41] = [
    (2, &[3]),
    (3, &[7]),
    (3, &[3, 5]),
    (4, &[15]),
    (3, &[3, 5, 6]),
    (4, &[7, 11]),
    (5, &[31]),
    (3, &[3, 5, 6, 7]),
    (4, &[7, 11, 13]),
    (5, &[7, 27]),
    (6, &[63]),
    (4, &[7, 11, 13, 14]),
    (5, &[7, 11, 29]),
    (6, &[15, 51]),
    (7, &[127]),
    (4, &[3, 5, 9, 14, 15]),
    (5, &[7, 11, 19, 29]),
    (6, &[7, 27, 45]),
    (7, &[31, 103]),
    (8, &[255]),
    (4, &[3, 5, 6, 9, 14, 15]),
    (5, &[7, 11, 19, 29, 30]),
    (6, &[7, 27, 43, 53]),
    (7, &[15, 51, 85]),
    (8, &[31, 231]),
    (9, &[511]),
    (4, &[3, 5, 6, 9, 10, 13, 14]),
    (5, &[7, 11, 13, 19, 21, 25]),
    (6, &[7, 11, 29, 45, 51]),
    (7, &[15, 51, 85, 106]),
    (8, &[31, 103, 171]),
    (9, &[63, 455]),
    (10, &[1023]),
    (4, &[3, 5, 6, 9, 10, 13, 14, 15]),
    (5, &[7, 11, 13, 14, 19, 21, 25]),
    (6, &[7, 11, 29, 45, 51, 62]),
    (7, &[7, 57, 90, 108, 119]),
    (8, &[31, 103, 171, 213]),
    (9, &[31, 227, 365]),
    (10, &[127, 911]),
    (11, &[2047]),
];

/// The products for this many base and added factors, if they are in the table.
pub(crate) fn known(base: usize, added: usize) -> Option<&'static [u32]> {
    TABLE.iter().find(|(own, columns)| *own == base && columns.len() == added).map(|own| own.1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_entry_can_be_built() {
        let mut sizes = BTreeSet::new();
        for (base, columns) in TABLE {
            assert!(sizes.insert((base, columns.len())), "{base} and {} twice", columns.len());
            let mut seen = BTreeSet::new();
            for &column in columns {
                assert!(column < 1 << base, "{column} uses a factor beyond the base of {base}");
                assert!(column.count_ones() > 1, "{column} would copy a base factor");
                assert!(seen.insert(column), "{column} would make two factors one");
            }
        }
        assert_eq!(known(3, 4), Some(&[3, 5, 6, 7][..]));
        assert_eq!(known(3, 5), None, "eight runs hold seven factors");
    }
}
