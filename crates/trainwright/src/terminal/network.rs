//! Networks in words.

use trainwright_report::terminal::TextTable;

use crate::NetworkSummary;

/// Layers, shapes, parameters, operations, memory.
pub fn network(summary: &NetworkSummary) -> String {
    let head = ["layer", "what", "output", "parameters", "MFLOP", "kept KiB"];
    let mut table = TextTable::with_header(head).numbers_in(3..6);
    for operator in &summary.operators {
        table.row([
            operator.name.clone(),
            operator.kind.clone(),
            joined(&operator.output_shape),
            operator.parameters.to_string(),
            format!("{:.3}", operator.flops as f64 / 1e6),
            format!("{:.1}", operator.activation_bytes as f64 / 1024.0),
        ]);
    }
    format!(
        "{}: {} -> {} classes\n\n{table}\n{} parameters, {} numbers of state\n{:.3} MFLOP an \
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NetworkRequest, describe_network};

    #[test]
    fn layers_stand_in_a_table_with_their_sum_below() {
        let request =
            NetworkRequest { description: "mlp:784-8-10".to_owned(), input: None, classes: None };
        let text = network(&describe_network(&request).unwrap());
        // 784 x 8 + 8 and 8 x 10 + 10.
        assert!(text.contains(" 6280 ") && text.contains(" 90 "), "{text}");
        assert!(text.contains("\n6370 parameters, 0 numbers of state\n"), "{text}");
        assert!(text.contains("-> 10 classes\n"), "{text}");
    }
}
