//! Builds graphs operator by operator, with the shapes that follow.

use crate::graph::{
    Dimension, Input, Operator, OperatorGraph, ParameterGroup, Read, Role, Weights,
};

/// Names of the outputs of layers.
const CHANNEL: &str = "channel";
const HIDDEN: &str = "hidden";

/// A graph in the making; operators are named by the place that adding them gave.
#[derive(Debug)]
pub struct GraphBuilder {
    graph: OperatorGraph,
}

/// Window of a convolution or pool, and how many outputs it has.
#[derive(Debug, Clone, Copy)]
pub struct ConvolutionShape {
    /// Outputs at each place.
    pub filters: u64,
    /// Height and width of the window.
    pub kernel: (u64, u64),
    /// Step of the window.
    pub stride: u64,
    /// Zeros before the first row and column.
    pub padding: (u64, u64),
}

impl ConvolutionShape {
    /// A square window.
    pub fn square(filters: u64, kernel: u64, stride: u64, padding: u64) -> Self {
        Self { filters, kernel: (kernel, kernel), stride, padding: (padding, padding) }
    }
}

/// The output of a window over places: rounded down.
fn places(size: u64, kernel: u64, stride: u64, padding: u64) -> u64 {
    ((size + 2 * padding).saturating_sub(kernel) / stride + 1).max(1)
}

/// A dimension with a name.
pub(crate) fn dimension(name: &str, size: u64, role: Role) -> Dimension {
    Dimension { name: name.to_owned(), size, role }
}

impl GraphBuilder {
    /// An empty graph for a batch of this size.
    pub fn new(name: &str, batch: u64) -> Self {
        let (operators, groups) = (Vec::new(), Vec::new());
        Self { graph: OperatorGraph { name: name.to_owned(), batch, operators, groups } }
    }

    /// The finished graph.
    pub fn finish(self) -> OperatorGraph {
        self.graph
    }

    /// Adds an operator and gives its place.
    pub fn add(&mut self, operator: Operator) -> usize {
        self.graph.operators.push(operator);
        let place = self.graph.operators.len() - 1;
        if let Some(weights) = &self.graph.operators[place].weights {
            self.graph.groups[weights.group].operators.push(place);
        }
        place
    }

    /// Adds weights that operators may share, and gives their place.
    pub fn group(&mut self, name: &str, elements: u64) -> usize {
        let (name, operators) = (name.to_owned(), Vec::new());
        self.graph.groups.push(ParameterGroup { name, elements, operators });
        self.graph.groups.len() - 1
    }

    /// The dimensions of an operator's output.
    pub fn dims(&self, operator: usize) -> &[Dimension] {
        &self.graph.operators[operator].dims
    }

    fn sample(&self) -> Dimension {
        dimension("sample", self.graph.batch, Role::Sample)
    }

    /// Height, width and channels of a picture that an operator writes, or that comes from outside.
    fn picture(&self, from: PictureFrom) -> (u64, u64, u64) {
        match from {
            PictureFrom::Outside(shape) => shape,
            PictureFrom::Operator(place) => {
                let dims = self.dims(place);
                (dims[1].size, dims[2].size, dims[3].size)
            }
        }
    }

    /// What the outputs of a layer are called: layers take turns between two names, so that a
    /// layout can split every second one, which then reads and sums what the one before has split.
    fn next_name(&self, from: PictureFrom) -> &'static str {
        match from {
            PictureFrom::Operator(place) => self.other_name(place),
            PictureFrom::Outside(_) => CHANNEL,
        }
    }

    fn other_name(&self, place: usize) -> &'static str {
        let last = self.dims(place).last().map_or("", |dim| dim.name.as_str());
        if last == CHANNEL { HIDDEN } else { CHANNEL }
    }

    /// A convolution over a picture.
    pub fn convolution(&mut self, name: &str, from: PictureFrom, shape: ConvolutionShape) -> usize {
        let (_, _, channels) = self.picture(from);
        let taps = shape.kernel.0 * shape.kernel.1 * channels;
        let group = self.group(name, shape.filters * (taps + 1));
        let weights = Weights { group, cut_by: Some(3), cut_by_contracted: false };
        let mut own = self.windowed(name, "convolution", from, shape);
        own.dims[3].role = Role::Parameter;
        own.flops_per_output = 2.0 * taps as f64;
        own.backward = 2.0;
        own.weights = Some(weights);
        self.add(own)
    }

    /// A convolution of each channel by itself.
    pub fn depthwise(&mut self, name: &str, from: PictureFrom, shape: ConvolutionShape) -> usize {
        let taps = shape.kernel.0 * shape.kernel.1;
        let group = self.group(name, shape.filters * (taps + 1));
        let mut own = self.windowed(name, "depthwise", from, shape);
        self.keep_name(&mut own, from);
        own.dims[3].role = Role::Parameter;
        own.inputs.iter_mut().for_each(|input| input.reads[3] = Read::Same(3));
        own.flops_per_output = 2.0 * taps as f64;
        own.backward = 2.0;
        own.weights = Some(Weights { group, cut_by: Some(3), cut_by_contracted: false });
        self.add(own)
    }

    /// The largest or mean of each window.
    pub fn pool(&mut self, name: &str, from: PictureFrom, shape: ConvolutionShape) -> usize {
        let mut own = self.windowed(name, "pool", from, shape);
        self.keep_name(&mut own, from);
        own.inputs.iter_mut().for_each(|input| input.reads[3] = Read::Same(3));
        own.flops_per_output = (shape.kernel.0 * shape.kernel.1) as f64;
        self.add(own)
    }

    /// Lets the channels be called as those of the picture that is read.
    fn keep_name(&self, own: &mut Operator, from: PictureFrom) {
        if let PictureFrom::Operator(place) = from {
            own.dims[3].name.clone_from(&self.dims(place)[3].name);
        }
    }

    fn windowed(
        &self,
        name: &str,
        kind: &str,
        from: PictureFrom,
        shape: ConvolutionShape,
    ) -> Operator {
        let ConvolutionShape { filters, kernel, stride, padding } = shape;
        let (height, width, channels) = self.picture(from);
        let dims = vec![
            self.sample(),
            dimension("height", places(height, kernel.0, stride, padding.0), Role::Attribute),
            dimension("width", places(width, kernel.1, stride, padding.1), Role::Attribute),
            dimension(self.next_name(from), filters, Role::Attribute),
        ];
        let window = |dim, kernel, padding| Read::Window { dim, kernel, stride, padding };
        let reads = vec![
            Read::Same(0),
            window(1, kernel.0, padding.0),
            window(2, kernel.1, padding.1),
            Read::Full,
        ];
        let (inputs, read_per_output) = match from {
            PictureFrom::Operator(from) => (vec![Input { from, reads }], 0.0),
            PictureFrom::Outside(_) => {
                let outputs = dims.iter().skip(1).map(|dim| dim.size).product::<u64>();
                (Vec::new(), (height * width * channels) as f64 / outputs as f64)
            }
        };
        Operator { read_per_output, ..plain(name, kind, dims, inputs) }
    }

    /// An operator on single numbers of one or more outputs of the same shape, such as a sum.
    pub fn elementwise(&mut self, name: &str, kind: &str, from: &[usize]) -> usize {
        let mut dims = self.dims(from[0]).to_vec();
        for dim in dims.iter_mut().filter(|dim| dim.role == Role::Parameter) {
            dim.role = Role::Attribute;
        }
        let reads: Vec<Read> = (0..dims.len()).map(Read::Same).collect();
        let inputs = from.iter().map(|&from| Input { from, reads: reads.clone() }).collect();
        self.add(Operator { flops_per_output: 1.0, ..plain(name, kind, dims, inputs) })
    }

    /// Pictures one after another by their channels.
    pub fn concat(&mut self, name: &str, from: &[usize]) -> usize {
        let mut dims = self.dims(from[0]).to_vec();
        let mut inputs = Vec::new();
        let mut by = 0;
        for &place in from {
            let reads =
                vec![Read::Same(0), Read::Same(1), Read::Same(2), Read::Shifted { dim: 3, by }];
            by += self.dims(place)[3].size;
            inputs.push(Input { from: place, reads });
        }
        dims[3] = Dimension { size: by, role: Role::Attribute, ..dims[3].clone() };
        self.add(plain(name, "concat", dims, inputs))
    }

    /// All numbers of a picture in one dimension, cut as its channels are.
    pub fn flatten(&mut self, name: &str, from: usize) -> usize {
        let (height, width, channels) = self.picture(PictureFrom::Operator(from));
        let dims = vec![
            self.sample(),
            Dimension {
                size: height * width * channels,
                role: Role::Attribute,
                ..self.dims(from)[3].clone()
            },
        ];
        let reads = vec![Read::Same(0), Read::Full, Read::Full, Read::Same(1)];
        self.add(plain(name, "flatten", dims, vec![Input { from, reads }]))
    }

    /// A dense layer on the last dimension of an output of two or three dimensions.
    pub fn dense(&mut self, name: &str, from: usize, outputs: u64) -> usize {
        let inputs = self.dims(from).last().expect("an output has dimensions").size;
        let group = self.group(name, outputs * (inputs + 1));
        self.dense_of(name, "dense", from, (outputs, group))
    }

    /// The same with weights that were added before.
    pub fn dense_of(
        &mut self,
        name: &str,
        kind: &str,
        from: usize,
        (outputs, group): (u64, usize),
    ) -> usize {
        let mut dims = self.dims(from).to_vec();
        let last = dims.len() - 1;
        let contracted = Dimension { role: Role::Parameter, ..dims[last].clone() };
        dims[last] = dimension(self.other_name(from), outputs, Role::Parameter);
        let reads = (0..last).map(Read::Same).chain([Read::Contracted]).collect();
        let own = plain(name, kind, dims, vec![Input { from, reads }]);
        let weights = Weights { group, cut_by: Some(last), cut_by_contracted: true };
        self.add(Operator {
            flops_per_output: 2.0 * contracted.size as f64,
            backward: 2.0,
            contracted: Some(contracted),
            weights: Some(weights),
            ..own
        })
    }

    /// A dense layer on numbers that come from outside.
    pub fn first_dense(&mut self, name: &str, inputs: u64, outputs: u64) -> usize {
        let group = self.group(name, outputs * (inputs + 1));
        let dims = vec![self.sample(), dimension("channel", outputs, Role::Parameter)];
        let own = plain(name, "dense", dims, Vec::new());
        self.add(Operator {
            flops_per_output: 2.0 * inputs as f64,
            backward: 1.0,
            read_per_output: inputs as f64 / outputs as f64,
            weights: Some(Weights { group, cut_by: Some(1), cut_by_contracted: false }),
            ..own
        })
    }
}

/// Where a picture comes from.
#[derive(Debug, Clone, Copy)]
pub enum PictureFrom {
    /// From an operator at this place.
    Operator(usize),
    /// From outside, with height, width and channels: every part finds its own at hand.
    Outside((u64, u64, u64)),
}

impl From<usize> for PictureFrom {
    fn from(place: usize) -> Self {
        Self::Operator(place)
    }
}

/// An operator without weights, that costs nothing but its bytes.
pub(crate) fn plain(name: &str, kind: &str, dims: Vec<Dimension>, inputs: Vec<Input>) -> Operator {
    Operator {
        name: name.to_owned(),
        kind: kind.to_owned(),
        dims,
        contracted: None,
        inputs,
        flops_per_output: 0.0,
        backward: 1.0,
        kept_per_output: 4.0,
        read_per_output: 0.0,
        weights: None,
    }
}
