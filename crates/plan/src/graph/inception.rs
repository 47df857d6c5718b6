//! Inception-v3 (Szegedy et al. 2016, "Rethinking the Inception architecture"), without the
//! auxiliary head, with the widths that torchvision has.

use crate::graph::{ConvolutionShape, GraphBuilder, OperatorGraph, PictureFrom};

/// A line of convolutions: outputs, height and width of the window, step; padded so that a step of
/// 1 keeps the size.
type Line<'a> = &'a [(u64, (u64, u64), u64)];

struct Net {
    own: GraphBuilder,
}

impl Net {
    fn line(&mut self, name: &str, from: usize, line: Line<'_>) -> usize {
        let mut at = from;
        for (number, &(filters, kernel, stride)) in line.iter().enumerate() {
            let padding = if stride > 1 { (0, 0) } else { (kernel.0 / 2, kernel.1 / 2) };
            let shape = ConvolutionShape { filters, kernel, stride, padding };
            at = self.own.convolution(&format!("{name}.{number}"), at.into(), shape);
        }
        at
    }

    fn pool(&mut self, name: &str, from: usize, stride: u64) -> usize {
        let channels = self.own.dims(from)[3].size;
        let padding = if stride == 1 { 1 } else { 0 };
        self.own.pool(name, from.into(), ConvolutionShape::square(channels, 3, stride, padding))
    }

    fn block_a(&mut self, name: &str, from: usize, pool: u64) -> usize {
        let one = self.line(&format!("{name}.1x1"), from, &[(64, (1, 1), 1)]);
        let five = self.line(&format!("{name}.5x5"), from, &[(48, (1, 1), 1), (64, (5, 5), 1)]);
        let three = &[(64, (1, 1), 1), (96, (3, 3), 1), (96, (3, 3), 1)];
        let three = self.line(&format!("{name}.3x3"), from, three);
        let pooled = self.pool(&format!("{name}.pool"), from, 1);
        let pooled = self.line(&format!("{name}.pool.1x1"), pooled, &[(pool, (1, 1), 1)]);
        self.own.concat(&format!("{name}.concat"), &[one, five, three, pooled])
    }

    fn block_c(&mut self, name: &str, from: usize, width: u64) -> usize {
        let one = self.line(&format!("{name}.1x1"), from, &[(192, (1, 1), 1)]);
        let seven = &[(width, (1, 1), 1), (width, (1, 7), 1), (192, (7, 1), 1)];
        let seven = self.line(&format!("{name}.7x7"), from, seven);
        let double = &[
            (width, (1, 1), 1),
            (width, (7, 1), 1),
            (width, (1, 7), 1),
            (width, (7, 1), 1),
            (192, (1, 7), 1),
        ];
        let double = self.line(&format!("{name}.7x7twice"), from, double);
        let pooled = self.pool(&format!("{name}.pool"), from, 1);
        let pooled = self.line(&format!("{name}.pool.1x1"), pooled, &[(192, (1, 1), 1)]);
        self.own.concat(&format!("{name}.concat"), &[one, seven, double, pooled])
    }

    fn block_e(&mut self, name: &str, from: usize) -> usize {
        let one = self.line(&format!("{name}.1x1"), from, &[(320, (1, 1), 1)]);
        let three = self.line(&format!("{name}.3x3"), from, &[(384, (1, 1), 1)]);
        let wide = self.line(&format!("{name}.1x3"), three, &[(384, (1, 3), 1)]);
        let high = self.line(&format!("{name}.3x1"), three, &[(384, (3, 1), 1)]);
        let double = &[(448, (1, 1), 1), (384, (3, 3), 1)];
        let double = self.line(&format!("{name}.twice"), from, double);
        let double_wide = self.line(&format!("{name}.twice.1x3"), double, &[(384, (1, 3), 1)]);
        let double_high = self.line(&format!("{name}.twice.3x1"), double, &[(384, (3, 1), 1)]);
        let pooled = self.pool(&format!("{name}.pool"), from, 1);
        let pooled = self.line(&format!("{name}.pool.1x1"), pooled, &[(192, (1, 1), 1)]);
        let all = [one, wide, high, double_wide, double_high, pooled];
        self.own.concat(&format!("{name}.concat"), &all)
    }

    /// Halves the picture beside two lines of convolutions.
    fn reduction(&mut self, name: &str, from: usize, lines: [Line<'_>; 2]) -> usize {
        let first = self.line(&format!("{name}.a"), from, lines[0]);
        let second = self.line(&format!("{name}.b"), from, lines[1]);
        let pooled = self.pool(&format!("{name}.pool"), from, 2);
        self.own.concat(&format!("{name}.concat"), &[first, second, pooled])
    }
}

pub(super) fn inception_v3(batch: u64) -> OperatorGraph {
    let mut own = GraphBuilder::new("inception-v3", batch);
    let outside = PictureFrom::Outside((299, 299, 3));
    let at = own.convolution("stem1", outside, ConvolutionShape::square(32, 3, 2, 0));
    let at = own.convolution("stem2", at.into(), ConvolutionShape::square(32, 3, 1, 0));
    let at = own.convolution("stem3", at.into(), ConvolutionShape::square(64, 3, 1, 1));
    let at = own.pool("pool1", at.into(), ConvolutionShape::square(64, 3, 2, 0));
    let at = own.convolution("stem4", at.into(), ConvolutionShape::square(80, 1, 1, 0));
    let at = own.convolution("stem5", at.into(), ConvolutionShape::square(192, 3, 1, 0));
    let at = own.pool("pool2", at.into(), ConvolutionShape::square(192, 3, 2, 0));
    let mut net = Net { own };
    let mut at = at;
    for (number, pool) in [32, 64, 64].into_iter().enumerate() {
        at = net.block_a(&format!("a{number}"), at, pool);
    }
    let three: Line<'_> = &[(384, (3, 3), 2)];
    let twice: Line<'_> = &[(64, (1, 1), 1), (96, (3, 3), 1), (96, (3, 3), 2)];
    at = net.reduction("b", at, [three, twice]);
    for (number, width) in [128, 160, 160, 192].into_iter().enumerate() {
        at = net.block_c(&format!("c{number}"), at, width);
    }
    let three: Line<'_> = &[(192, (1, 1), 1), (320, (3, 3), 2)];
    let seven: Line<'_> = &[(192, (1, 1), 1), (192, (1, 7), 1), (192, (7, 1), 1), (192, (3, 3), 2)];
    at = net.reduction("d", at, [three, seven]);
    for number in 0..2 {
        at = net.block_e(&format!("e{number}"), at);
    }
    let at = net.own.pool("pool3", at.into(), ConvolutionShape::square(2048, 8, 8, 0));
    let at = net.own.flatten("flatten", at);
    let at = net.own.dense("fc", at, 1000);
    net.own.elementwise("softmax", "softmax", &[at]);
    net.own.finish()
}
