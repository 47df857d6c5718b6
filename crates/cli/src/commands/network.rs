//! `trainwright network`.

use comfy_table::CellAlignment;
use trainwright::{Error, NetworkRequest, NetworkSummary};

use crate::arguments::NetworkArguments;
use crate::output::{plain_table, print, print_json};

pub(crate) fn network(arguments: &NetworkArguments) -> anyhow::Result<u8> {
    let request = NetworkRequest {
        description: arguments.description.clone(),
        input: arguments.input.as_deref().map(dimensions).transpose()?,
        classes: arguments.classes,
    };
    let summary = trainwright::describe_network(&request)?;
    if arguments.json {
        print_json("network", &summary)?
    } else {
        print(&text(&summary))?
    }
    Ok(0)
}

/// Dimensions such as `64x64x3`.
fn dimensions(text: &str) -> Result<Vec<usize>, Error> {
    let number = |part: &str| part.parse().ok().filter(|&size| size > 0);
    text.split('x').map(number).collect::<Option<Vec<usize>>>().ok_or_else(|| {
        Error::Request(format!("--input {text}: dimensions look like 784, 28x28 or 64x64x3"))
    })
}

fn text(summary: &NetworkSummary) -> String {
    let mut table = plain_table();
    table.set_header(["layer", "what", "output", "parameters", "MFLOP", "kept KiB"]);
    for operator in &summary.operators {
        table.add_row([
            operator.name.clone(),
            operator.kind.clone(),
            joined(&operator.output_shape),
            operator.parameters.to_string(),
            format!("{:.3}", operator.flops as f64 / 1e6),
            format!("{:.1}", operator.activation_bytes as f64 / 1024.0),
        ]);
    }
    for column in 3..6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!(
        "{}: {} -> {} classes\n\n{table}\n\n{} parameters, {} numbers of state\n{:.3} MFLOP an \
         example forward, about {:.3} to learn from it\n{:.1} MiB kept for each example of a \
         batch while learning\n",
        summary.network,
        joined(&summary.input),
        summary.classes,
        summary.parameters,
        summary.state,
        summary.flops as f64 / 1e6,
        3.0 * summary.flops as f64 / 1e6,
        summary.activation_bytes as f64 / 1024.0 / 1024.0,
    )
}

fn joined(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}
