//! AlexNet, ResNet-101 and a small network like LeNet-5.

use crate::graph::{ConvolutionShape, GraphBuilder, OperatorGraph, PictureFrom};

const fn square(filters: u64, kernel: u64, stride: u64, padding: u64) -> ConvolutionShape {
    ConvolutionShape { filters, kernel: (kernel, kernel), stride, padding: (padding, padding) }
}

/// AlexNet on one tower, as torchvision has it (Krizhevsky 2014, "One weird trick for
/// parallelizing convolutional neural networks").
pub(super) fn alexnet(batch: u64) -> OperatorGraph {
    let mut own = GraphBuilder::new("alexnet", batch);
    let outside = PictureFrom::Outside((224, 224, 3));
    let at = own.convolution("conv1", outside, square(64, 11, 4, 2));
    let at = own.pool("pool1", at.into(), square(64, 3, 2, 0));
    let at = own.convolution("conv2", at.into(), square(192, 5, 1, 2));
    let at = own.pool("pool2", at.into(), square(192, 3, 2, 0));
    let at = own.convolution("conv3", at.into(), square(384, 3, 1, 1));
    let at = own.convolution("conv4", at.into(), square(256, 3, 1, 1));
    let at = own.convolution("conv5", at.into(), square(256, 3, 1, 1));
    let at = own.pool("pool5", at.into(), square(256, 3, 2, 0));
    let at = own.flatten("flatten", at);
    let at = own.dense("fc6", at, 4096);
    let at = own.dense("fc7", at, 4096);
    let at = own.dense("fc8", at, 1000);
    own.elementwise("softmax", "softmax", &[at]);
    own.finish()
}

/// Two convolutions with pools and three dense layers (LeCun et al. 1998, on 28 x 28).
pub(super) fn lenet(batch: u64) -> OperatorGraph {
    let mut own = GraphBuilder::new("lenet", batch);
    let at = own.convolution("conv1", PictureFrom::Outside((28, 28, 1)), square(6, 5, 1, 2));
    let at = own.pool("pool1", at.into(), square(6, 2, 2, 0));
    let at = own.convolution("conv2", at.into(), square(16, 5, 1, 0));
    let at = own.pool("pool2", at.into(), square(16, 2, 2, 0));
    let at = own.flatten("flatten", at);
    let at = own.dense("fc1", at, 120);
    own.dense("fc2", at, 10);
    own.finish()
}

/// ResNet-101 with bottleneck blocks (He et al. 2016, table 1). Batch norm and rectifiers count
/// to their convolutions.
pub(super) fn resnet_101(batch: u64) -> OperatorGraph {
    let mut own = GraphBuilder::new("resnet-101", batch);
    let outside = PictureFrom::Outside((224, 224, 3));
    let at = own.convolution("conv1", outside, square(64, 7, 2, 3));
    let mut at = own.pool("pool1", at.into(), square(64, 3, 2, 1));
    for (stage, (blocks, width)) in [(3, 64), (4, 128), (23, 256), (3, 512)].into_iter().enumerate()
    {
        for block in 0..blocks {
            let stride = if block == 0 && stage > 0 { 2 } else { 1 };
            at = bottleneck(&mut own, &format!("stage{}.{block}", stage + 2), at, (width, stride));
        }
    }
    let at = own.pool("pool5", at.into(), square(2048, 7, 7, 0));
    let at = own.flatten("flatten", at);
    let at = own.dense("fc", at, 1000);
    own.elementwise("softmax", "softmax", &[at]);
    own.finish()
}

fn bottleneck(
    own: &mut GraphBuilder,
    name: &str,
    from: usize,
    (width, stride): (u64, u64),
) -> usize {
    let at = own.convolution(&format!("{name}.a"), from.into(), square(width, 1, 1, 0));
    let at = own.convolution(&format!("{name}.b"), at.into(), square(width, 3, stride, 1));
    let at = own.convolution(&format!("{name}.c"), at.into(), square(4 * width, 1, 1, 0));
    let short = if stride > 1 || own.dims(from)[3].size != 4 * width {
        own.convolution(&format!("{name}.short"), from.into(), square(4 * width, 1, stride, 0))
    } else {
        from
    };
    own.elementwise(&format!("{name}.add"), "add", &[at, short])
}
