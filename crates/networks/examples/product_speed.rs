//! The speed of matrix products on one thread, the ceiling of every network: `product_speed`.
//!
//! Prints `ready`; then, for each line on its input, one line of JSON with the best GFLOP/s of
//! products of 1024 x 1024. `bench/training` measures it in the same run as the networks.

use std::io::BufRead;
use std::time::Instant;

use trainwright_networks::square_product;

const SIDE: usize = 1024;
const REPEATS: usize = 12;

fn main() {
    let (a, b) = (vec![0.5_f32; SIDE * SIDE], vec![0.25_f32; SIDE * SIDE]);
    let mut c = vec![0.0_f32; SIDE * SIDE];
    multiply(&a, &b, &mut c);
    println!("ready");
    for _ in std::io::stdin().lock().lines() {
        let best = (0..REPEATS).map(|_| multiply(&a, &b, &mut c)).fold(f64::INFINITY, f64::min);
        println!("{{\"gflops\": {}}}", 2.0 * (SIDE * SIDE * SIDE) as f64 / best / 1e9);
    }
}

/// Seconds of one product.
fn multiply(a: &[f32], b: &[f32], c: &mut [f32]) -> f64 {
    let start = Instant::now();
    square_product(a, b, c, SIDE);
    assert_eq!(c[0], 128.0);
    start.elapsed().as_secs_f64()
}
