//! Proposals a second of every mode of evaluation, from data parallel, as JSON lines.
//!
//! `proposal_speed [DEVICES] [SECONDS]`: for six graphs on K80s, the walk of a search with a fixed
//! beta of 200 over the cost. Time is that of this thread.

use std::time::Instant;

use trainwright_plan::{
    Chain, ChainOptions, Constraints, Mode, Problem, Training, data_parallel, named_graph,
    named_machine,
};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let devices: u32 = arguments.next().map_or(16, |text| text.parse().expect("devices"));
    let seconds: f64 = arguments.next().map_or(1.0, |text| text.parse().expect("seconds"));
    for name in ["alexnet", "inception-v3", "resnet-101", "rnntc", "rnnlm", "nmt"] {
        let mut machine = named_machine("4-k80").expect("it is ready");
        machine.nodes = devices.div_ceil(4);
        machine.devices_per_node = devices.min(4);
        let graph = named_graph(name, None).expect("it is ready");
        let problem = Problem::new(graph, machine, Training::default(), Constraints::default())
            .expect("it fits together");
        let start = data_parallel(&problem);
        let mut rates = Vec::new();
        let mut ends = Vec::new();
        for mode in [Mode::Rebuild, Mode::InPlace, Mode::Rewind, Mode::Bounded] {
            let mut proposals = 256;
            loop {
                let begun = Instant::now();
                let chain = ChainOptions { seed: 7, proposals, mode };
                let end = Chain::new(&problem, &start, chain).run(&|| false);
                let spent = begun.elapsed().as_secs_f64();
                if spent > seconds || proposals >= 1 << 22 {
                    rates.push(end.proposals as f64 / spent);
                    ends.push(end);
                    break;
                }
                proposals *= 2;
            }
        }
        println!(
            "{name} {devices}: rebuild {:.0}/s, in place x{:.2}, rewind x{:.2}, bounded {:.0}/s x{:.2}, accept {:.1} %",
            rates[0],
            rates[1] / rates[0],
            rates[2] / rates[0],
            rates[3],
            rates[3] / rates[0],
            100.0 * ends[3].accepted as f64 / ends[3].proposals as f64,
        );
    }
}
