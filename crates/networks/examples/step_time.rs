//! Times training steps of a network on random examples: `step_time NETWORK BATCH THREADS STEPS
//! [HEIGHTxWIDTHxCHANNELS CLASSES]`. Prints one JSON line; `bench/training` runs it beside others.

use std::error::Error;
use std::time::Instant;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use trainwright_networks::{
    Adam, Batch, Learned, Network, NetworkDescription, Optimizer, StepOptions,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [text, batch, threads, steps, rest @ ..] = arguments.as_slice() else {
        return Err("usage: step_time NETWORK BATCH THREADS STEPS [SHAPE CLASSES]".into());
    };
    let (batch, threads, steps): (usize, usize, usize) =
        (batch.parse()?, threads.parse()?, steps.parse()?);
    let shape = match rest.first() {
        Some(shape) => Some(shape.split('x').map(str::parse).collect::<Result<Vec<usize>, _>>()?),
        None => None,
    };
    let classes = rest.get(1).map(|classes| classes.parse()).transpose()?;
    let network = Network::new(&NetworkDescription::of(text, shape.as_deref(), classes)?)?;
    let mut random = Pcg64::seed_from_u64(1);
    let size: usize = network.input_shape().iter().product();
    let inputs: Vec<f32> =
        (0..batch * size).map(|_| (random.next_u32() >> 8) as f32 / (1 << 24) as f32).collect();
    let labels: Vec<u32> =
        (0..batch).map(|_| random.next_u32() % network.classes() as u32).collect();
    let (mut parameters, mut state) = (network.initial_parameters(1), network.initial_state());
    let mut gradients = vec![0.0; parameters.len()];
    let mut statistics = state.clone();
    let mut workspace = network.workspace(batch, threads)?;
    let mut adam = Adam::new(parameters.len());
    let mut times = Vec::with_capacity(steps);
    let mut loss = 0.0;
    for step in 0..steps + 2 {
        let start = Instant::now();
        let options = StepOptions { dropout_seed: step as u64, ..StepOptions::default() };
        let batch = Batch { inputs: &inputs, labels: &labels };
        let score = network.gradients(
            &parameters,
            &state,
            batch,
            options,
            Learned { gradients: &mut gradients, statistics: &mut statistics },
            &mut workspace,
        );
        network.fold_statistics(&mut state, &statistics);
        adam.step(&mut parameters, &gradients, 1e-3, workspace.team());
        if step >= 2 {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        loss = score.loss_sum / score.examples as f64;
    }
    times.sort_by(f64::total_cmp);
    let (low, median, high) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    let flops: u64 = network.operators().iter().map(|operator| operator.flops).sum();
    println!(
        "{{\"network\": \"{text}\", \"batch\": {batch}, \"threads\": {threads}, \"ms\": \
         {median:.4}, \"ms_low\": {low:.4}, \"ms_high\": {high:.4}, \"gflops\": {:.1}, \
         \"workspace_mb\": {:.0}, \"loss\": {loss:.4}}}",
        3.0 * flops as f64 * batch as f64 / median / 1e6,
        workspace.bytes() as f64 / 1e6,
    );
    Ok(())
}
