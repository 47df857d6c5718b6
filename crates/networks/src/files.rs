//! Networks in files: safetensors in and out, ONNX out, weights that others trained.

mod onnx;
pub(crate) mod pretrained;
pub(crate) mod safetensors;
