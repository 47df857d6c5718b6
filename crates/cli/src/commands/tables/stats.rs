//! `trainwright stats`.

use trainwright::{TestQuestion, terminal, test_statistics};

use crate::arguments::StatsArguments;
use crate::output::show;

pub(crate) fn stats(arguments: &StatsArguments) -> anyhow::Result<u8> {
    let question = TestQuestion {
        test: arguments.test,
        column: arguments.column.as_deref(),
        by: arguments.by.as_deref(),
        with: arguments.with.as_deref(),
        formula: arguments.formula.as_deref(),
        method: arguments.method,
        statistic: arguments.statistic.map(Into::into),
        ratio: arguments.ratio,
        seed: arguments.seed,
    };
    let result = test_statistics(&arguments.data, &question)?;
    show("stats", arguments.json, &result.fields, |_| terminal::test_result(&result))?;
    Ok(0)
}
