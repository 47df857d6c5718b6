//! Single layers: what a description asks for must fit the dimensions that come in.

use super::{Builder, LIMIT, MOST_TAP_BYTES, Made, operations, product, too_large};
use crate::error::NetworksError;
use crate::layers::layer::Layer;
use crate::layers::{
    Add, AveragePool, BatchNorm, Convolution, Dense, DepthwiseFilters, Directions, Dropout,
    Embedding, Filters, Finish, Lstm, MaxPool, Norm, Product, Rectifier, Window,
};
use crate::network::description::{Activation, LayerDescription, Returns};
use crate::network::tensors::TensorKind;

impl Builder {
    /// Makes a layer; `None` when it only changes the dimensions.
    pub(super) fn make(
        &mut self,
        name: &str,
        layer: &LayerDescription,
    ) -> Result<Option<Made>, NetworksError> {
        use LayerDescription as L;
        let made = match *layer {
            L::Dense { outputs, activation } => self.dense(name, outputs, activation)?,
            L::Convolution { filters, kernel, stride, padding, batch_norm, activation } => {
                let window = (kernel, stride, padding);
                self.filters(name, filters, window, (batch_norm, activation))?
            }
            L::Depthwise { kernel, stride, padding, batch_norm, activation } => {
                self.depthwise(name, (kernel, stride, padding), (batch_norm, activation))?
            }
            L::BatchNorm { activation } => {
                let channels = *self.shape.last().expect("a value has dimensions");
                let layouts = (&mut self.parameters, &mut self.state);
                let norm = Norm::new(name, channels, activation, layouts);
                let positions = self.size() / channels;
                self.same("batch norm", Box::new(BatchNorm { norm, positions }), 2)
            }
            L::MaxPool { size } => self.max_pool(name, size)?,
            L::AveragePool { size } => self.average_pool(name, size)?,
            L::Relu => self.same("relu", Box::new(Rectifier(Activation::Relu)), 1),
            L::Relu6 => self.same("relu6", Box::new(Rectifier(Activation::Relu6)), 2),
            L::Flatten => {
                if let &[height, width, _] = self.shape.as_slice() {
                    self.positions = height * width;
                }
                self.shape = vec![self.size()];
                return Ok(None);
            }
            L::Dropout { rate } => self.dropout(name, rate)?,
            L::Add { .. } => self.same("add", Box::new(Add), 1),
            L::Lstm { units, bidirectional, returns } => {
                self.lstm(name, units, bidirectional, returns)?
            }
            L::Embedding { rows, width } => self.embedding(name, rows, width)?,
        };
        Ok(Some(made))
    }

    fn size(&self) -> usize {
        self.sizes[self.value]
    }

    /// A layer that leaves the dimensions as they are, with that many operations a number.
    fn same(&self, kind: &str, layer: Box<dyn Layer>, flops: usize) -> Made {
        let (shape, flops) = (self.shape.clone(), operations(&[flops, self.size()]));
        Made { layer, shape, kind: kind.to_owned(), flops }
    }

    fn wanted(&self, name: &str, count: usize) -> Result<(), NetworksError> {
        match count {
            0 => Err(NetworksError::NoOutputs { layer: name.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Checks that a tensor of these dimensions can be addressed with those before it.
    fn room(&self, name: &str, shape: &[usize]) -> Result<(), NetworksError> {
        let total = product(shape).and_then(|more| more.checked_add(self.parameters.len()));
        match total {
            Some(total) if total <= LIMIT => Ok(()),
            _ => Err(too_large(name, shape, self.parameters.len())),
        }
    }

    fn dense(
        &mut self,
        name: &str,
        outputs: usize,
        activation: Activation,
    ) -> Result<Made, NetworksError> {
        let &[inputs] = self.shape.as_slice() else {
            return Err(self.misfit(name, "one dimension, as after a layer `flatten`"));
        };
        self.wanted(name, outputs)?;
        self.room(name, &[inputs.saturating_add(1), outputs])?;
        let kind = match std::mem::replace(&mut self.positions, 1) {
            1 => TensorKind::Dense,
            positions => TensorKind::FlatPicture { positions },
        };
        let size = (inputs, outputs);
        let layer = Dense::new(name, (kind, size), activation, &mut self.parameters);
        Ok(Made {
            layer: Box::new(layer),
            shape: vec![outputs],
            kind: "dense".into(),
            flops: operations(&[2, inputs, outputs]),
        })
    }

    fn window(
        &self,
        name: &str,
        (kernel, stride, padding): (usize, usize, usize),
    ) -> Result<(Window, usize), NetworksError> {
        let &[height, width, channels] = self.shape.as_slice() else {
            return Err(self.misfit(name, "height, width and channels"));
        };
        let window = Window { height, width, kernel, stride, padding };
        match window.fits() {
            true => Ok((window, channels)),
            false => Err(self.misfit(
                name,
                &format!(
                    "room for a {kernel}x{kernel} window of stride {stride} and padding {padding}"
                ),
            )),
        }
    }

    fn filters(
        &mut self,
        name: &str,
        filters: usize,
        window: (usize, usize, usize),
        finish: (bool, Activation),
    ) -> Result<Made, NetworksError> {
        self.wanted(name, filters)?;
        let (window, channels) = self.window(name, window)?;
        let shape = [window.kernel, window.kernel, channels, filters];
        self.room(name, &shape)?;
        let kind = TensorKind::Convolution;
        let weights = self.parameters.add(format!("{name}.weight"), kind, &shape);
        let product = Box::new(Filters::new(window, channels, filters));
        let flops = operations(&[2, weights.len(), window.positions()]);
        let what = ("convolution", window, filters, flops);
        Ok(self.convolution(name, product, weights, finish, what))
    }

    fn depthwise(
        &mut self,
        name: &str,
        window: (usize, usize, usize),
        finish: (bool, Activation),
    ) -> Result<Made, NetworksError> {
        let (window, channels) = self.window(name, window)?;
        let shape = [window.kernel, window.kernel, channels];
        self.room(name, &shape)?;
        let (bytes, limit) = (DepthwiseFilters::bytes(&window), MOST_TAP_BYTES as u64);
        if bytes > limit {
            return Err(NetworksError::TooManyPlaces { layer: name.to_owned(), bytes, limit });
        }
        let kind = TensorKind::Depthwise;
        let weights = self.parameters.add(format!("{name}.weight"), kind, &shape);
        let product = Box::new(DepthwiseFilters::new(window, channels));
        let flops = operations(&[2, weights.len(), window.positions()]);
        let what = ("depthwise", window, channels, flops);
        Ok(self.convolution(name, product, weights, finish, what))
    }

    fn convolution(
        &mut self,
        name: &str,
        product: Box<dyn Product>,
        weights: std::ops::Range<usize>,
        (batch_norm, activation): (bool, Activation),
        (kind, window, channels, flops): (&str, Window, usize, u64),
    ) -> Made {
        let finish = match batch_norm {
            true => {
                let layouts = (&mut self.parameters, &mut self.state);
                Finish::Norm(Norm::new(&norm_name(name), channels, activation, layouts))
            }
            false => {
                let shape = [channels];
                let bias = self.parameters.add(format!("{name}.bias"), TensorKind::Vector, &shape);
                Finish::Bias(bias, activation)
            }
        };
        let shape = vec![window.output_height(), window.output_width(), channels];
        let kind = format!("{kind} {0}x{0}", window.kernel);
        Made { layer: Box::new(Convolution { product, weights, finish }), shape, kind, flops }
    }

    fn max_pool(&mut self, name: &str, size: usize) -> Result<Made, NetworksError> {
        let rectifies = std::mem::take(&mut self.owes_relu);
        let (window, channels) = self.window(name, (size, size, 0))?;
        Ok(Made {
            layer: Box::new(MaxPool { window, channels, rectifies }),
            shape: vec![window.output_height(), window.output_width(), channels],
            kind: format!("max pool {size}x{size}"),
            flops: operations(&[window.positions(), channels, size, size]),
        })
    }

    fn average_pool(&self, name: &str, size: Option<usize>) -> Result<Made, NetworksError> {
        let &[height, width, channels] = self.shape.as_slice() else {
            return Err(self.misfit(name, "height, width and channels"));
        };
        let size = size.map_or((height, width), |size| (size, size));
        if size.0 == 0 || size.0 > height || size.1 > width {
            return Err(self.misfit(name, &format!("room for a {}x{} window", size.0, size.1)));
        }
        let pool = AveragePool { height, width, size, channels };
        let (down, across) = pool.places();
        Ok(Made {
            layer: Box::new(pool),
            shape: vec![down, across, channels],
            kind: format!("average pool {}x{}", size.0, size.1),
            flops: operations(&[self.size()]),
        })
    }

    fn dropout(&self, name: &str, rate: f64) -> Result<Made, NetworksError> {
        if !(0.0..1.0).contains(&rate) {
            let (layer, rate) = (name.to_owned(), rate.to_string());
            return Err(NetworksError::DropoutRate { layer, rate });
        }
        Ok(self.same("dropout", Box::new(Dropout::new(rate, self.nodes.len())), 1))
    }

    fn embedding(&mut self, name: &str, rows: usize, width: usize) -> Result<Made, NetworksError> {
        if self.value != 0 {
            return Err(NetworksError::EmbeddingNotFirst { layer: name.into() });
        }
        self.wanted(name, rows)?;
        self.wanted(name, width)?;
        self.room(name, &[rows, width])?;
        let shape = [self.shape.as_slice(), &[width]].concat();
        let layer = Box::new(Embedding::new(name, rows, width, &mut self.parameters));
        Ok(Made { layer, shape, kind: "embedding".into(), flops: 0 })
    }

    fn lstm(
        &mut self,
        name: &str,
        units: usize,
        bidirectional: bool,
        returns: Returns,
    ) -> Result<Made, NetworksError> {
        let &[steps, inputs] = self.shape.as_slice() else {
            return Err(self.misfit(name, "steps and numbers"));
        };
        self.wanted(name, units)?;
        let (directions, count, kind) = match bidirectional {
            true => (Directions::Both, 2, "bidirectional lstm"),
            false => (Directions::Forward, 1, "lstm"),
        };
        let rows = inputs.saturating_add(units).saturating_add(1);
        self.room(name, &[count, rows, units, 4])?;
        let how = (directions, returns);
        let layer = Lstm::new(name, (steps, inputs), units, how, &mut self.parameters);
        let shape = match returns {
            Returns::Last => vec![count * units],
            Returns::Sequence => vec![steps, count * units],
        };
        Ok(Made {
            layer: Box::new(layer),
            shape,
            kind: kind.into(),
            flops: operations(&[2 * count, steps, inputs + units, 4, units]),
        })
    }
}

/// The name of the norm after a convolution: the next number where names end in one, as in
/// torchvision.
pub(crate) fn norm_name(name: &str) -> String {
    let next = name.rsplit_once('.').and_then(|(before, last)| {
        let number: usize = last.parse().ok()?;
        Some(format!("{before}.{}", number + 1))
    });
    next.unwrap_or_else(|| format!("{name}.norm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_are_named_as_torchvision_does() {
        assert_eq!(norm_name("features.0.0"), "features.0.1");
        assert_eq!(norm_name("stem"), "stem.norm");
    }
}
