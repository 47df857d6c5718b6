//! NIST's certified values (<https://www.itl.nist.gov/div898/strd/>): analyses of variance whose
//! values share thirteen digits, and a polynomial of degree ten in raw powers.

use std::fmt::Write;

use trainwright_analysis::{
    AnovaType, Formula, StatsTest, Table, TableOptions, TermOrder, TestQuestion, analyze_table,
};

use crate::support::{close, rows, table};

/// Middle tenths of the nine treatments of SmLs07 to SmLs09; the others lie 0.1 below and above in turn.
const MIDDLES: [u8; 9] = [4, 3, 5, 3, 5, 3, 5, 3, 5];

/// The data set with this many replicates, by the rule that it was made by.
fn thirteen_digits(replicates: usize) -> Table {
    let mut csv = "treatment,y\n".to_owned();
    for (treatment, middle) in (1..).zip(MIDDLES) {
        for replicate in 0..replicates {
            let tenth = match replicate {
                0 => middle,
                own if own % 2 == 1 => middle - 1,
                _ => middle + 1,
            };
            writeln!(csv, "t{treatment},1000000000000.{tenth}").unwrap();
        }
    }
    Table::from_csv(csv.as_bytes(), &[]).unwrap()
}

/// Replicates and the certified sums of squares between and within, F and R2. A float holds such
/// values to 6e-5, so that the tables are known to about 0.2 %.
const CERTIFIED: [(usize, f64, f64, f64, f64); 3] = [
    (21, 1.68, 1.80, 21.0, 4.827_586_206_896_55e-1),
    (201, 16.08, 18.0, 201.0, 4.718_309_859_154_93e-1),
    (2001, 160.08, 180.0, 2001.0, 4.707_127_734_650_67e-1),
];

/// The same of the floats themselves: their distances from 10^12 are exact, and few enough to sum.
fn of_the_floats(replicates: usize) -> (f64, f64) {
    let tenths = |tenth: u8| format!("1000000000000.{tenth}").parse::<f64>().unwrap() - 1e12;
    let half = (replicates / 2) as f64;
    let means =
        MIDDLES.map(|m| (tenths(m) + half * (tenths(m - 1) + tenths(m + 1))) / replicates as f64);
    let grand = means.iter().sum::<f64>() / 9.0;
    let between = means.iter().map(|m| (m - grand).powi(2)).sum::<f64>() * replicates as f64;
    let within = MIDDLES.iter().zip(means).map(|(&m, mean)| {
        let square = |tenth: u8| (tenths(tenth) - mean).powi(2);
        square(m) + half * (square(m - 1) + square(m + 1))
    });
    (between, within.sum())
}

#[test]
fn thirteen_constant_digits_leave_the_certified_table() {
    for (replicates, between, within, f, r2) in CERTIFIED {
        let formula = Formula::parse("y ~ treatment", TermOrder::Formula).unwrap();
        let table = thirteen_digits(replicates);
        let found = analyze_table(&table, &formula, &TableOptions::default()).unwrap();
        let exact = of_the_floats(replicates);
        for kind in [AnovaType::One, AnovaType::Two, AnovaType::Three] {
            let row = rows(&found, kind).iter().find(|row| row.term == "treatment").unwrap();
            assert_eq!(row.df, 8);
            close("between", row.sum_sq.unwrap(), between, 2e-3);
            close("between, of the floats", row.sum_sq.unwrap(), exact.0, 1e-9);
            close("F", row.f.unwrap(), f, 2e-3);
        }
        close("within", found.fit.ss_residual, within, 2e-3);
        close("within, of the floats", found.fit.ss_residual, exact.1, 1e-9);
        close("R2", found.fit.r2, r2, 2e-3);
        let said = found.checks.iter().any(|check| check.verdict.contains("leaves no residuals"));
        assert!(!said, "{:?}", found.checks);
    }
}

#[test]
fn the_one_way_test_of_thirteen_constant_digits_is_certified_too() {
    for (replicates, _, _, f, _) in CERTIFIED {
        let question = TestQuestion {
            test: StatsTest::Anova,
            column: Some("y"),
            by: Some("treatment"),
            with: None,
            formula: None,
            method: None,
            statistic: None,
            ratio: false,
            seed: None,
        };
        let fields = question.answer(&thirteen_digits(replicates)).unwrap().fields;
        close("F", fields["statistic"].as_f64().unwrap(), f, 2e-3);
        let (between, within) = of_the_floats(replicates);
        let df = 9.0 * (replicates - 1) as f64;
        close("F", fields["statistic"].as_f64().unwrap(), between / 8.0 / (within / df), 1e-9);
    }
}

/// Coefficients of Filip and their standard errors, certified (and found again by rational
/// arithmetic).
const FILIP: [(f64, f64); 11] = [
    (-1_467.489_614_229_80, 298.084_530_995_537),
    (-2_772.179_591_933_42, 559.779_865_474_950),
    (-2_316.371_081_608_93, 466.477_572_127_796),
    (-1_127.973_940_983_72, 227.204_274_477_751),
    (-354.478_233_703_349, 71.647_866_087_592_7),
    (-75.124_201_739_375_7, 15.289_717_874_740_0),
    (-10.875_318_035_534_3, 2.236_911_598_160_33),
    (-1.062_214_985_889_47, 0.221_624_321_934_227),
    (-0.067_019_115_459_340_8, 0.014_236_376_315_472_4),
    (-0.002_467_810_782_754_79, 0.000_535_617_408_889_821),
    (-4.029_625_250_804_04e-5, 8.966_328_373_738_68e-6),
];

#[test]
fn ten_raw_powers_keep_six_digits_and_none_is_dropped() {
    let powers: Vec<String> = (2..=10).map(|power| format!("I(x^{power})")).collect();
    let formula = format!("y ~ x + {}", powers.join(" + "));
    let formula = Formula::parse(&formula, TermOrder::Formula).unwrap();
    let table = table("data/nist_filip.csv", &[]);
    let found = analyze_table(&table, &formula, &TableOptions::default()).unwrap();
    for (own, (estimate, error)) in found.fit.coefficients.iter().zip(FILIP) {
        assert!(!own.aliased, "{}", own.name);
        close(&own.name, own.estimate.unwrap(), estimate, 1e-6);
        close(&own.name, own.std_error.unwrap(), error, 1e-6);
    }
    assert_eq!((found.fit.coefficients.len(), found.fit.df_residual), (11, 71));
    close("sigma", found.fit.sigma.unwrap(), 0.334_801_051_324_544e-2, 1e-7);
    close("R2", found.fit.r2, 0.996_727_416_185_620, 1e-9);
    close("F", found.fit.f.unwrap(), 2_162.439_545_111_42, 1e-6);
    for kind in [AnovaType::One, AnovaType::Two, AnovaType::Three] {
        assert!(rows(&found, kind).iter().all(|row| !row.aliased), "{kind:?}");
    }
    assert!(found.findings.iter().all(|own| own.id != "aliased-terms"));
}
