//! Messages of TensorBoard's hparams plugin (`tensorboard/plugins/hparams/*.proto`).

use crate::messages::protobuf::{put_bytes_field, put_double_field, put_varint_field};

/// What kind of value a hyperparameter has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HparamKind {
    /// Text.
    Text,
    /// True or false.
    Flag,
    /// A number.
    Number,
}

/// The value of a hyperparameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HparamValue<'a> {
    /// Text.
    Text(&'a str),
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStatus {
    /// It ended well.
    Success,
    /// It failed.
    Failure,
    /// It goes on.
    Running,
}

/// `Experiment { 3: time created, 4: HParamInfo { 1: name, 4: type },
/// 5: MetricInfo { 1: MetricName { 2: tag } } }`.
pub(super) fn experiment(
    wall_time: f64,
    hparams: &[(&str, HparamKind)],
    metrics: &[&str],
) -> Vec<u8> {
    let mut experiment = Vec::new();
    put_double_field(&mut experiment, 3, wall_time);
    for (name, kind) in hparams {
        let mut info = Vec::new();
        put_bytes_field(&mut info, 1, name.as_bytes());
        let kind = match kind {
            HparamKind::Text => 1,
            HparamKind::Flag => 2,
            HparamKind::Number => 3,
        };
        put_varint_field(&mut info, 4, kind);
        put_bytes_field(&mut experiment, 4, &info);
    }
    for tag in metrics {
        let (mut name, mut info) = (Vec::new(), Vec::new());
        put_bytes_field(&mut name, 2, tag.as_bytes());
        put_bytes_field(&mut info, 1, &name);
        put_bytes_field(&mut experiment, 5, &info);
    }
    plugin_data(2, &experiment)
}

/// `SessionStartInfo { 1: map<string, Value>, 4: group name, 5: start time }`.
pub(super) fn session_start(
    wall_time: f64,
    group: &str,
    hparams: &[(&str, HparamValue<'_>)],
) -> Vec<u8> {
    let mut start = Vec::new();
    for (name, value) in hparams {
        let (mut entry, mut content) = (Vec::new(), Vec::new());
        match value {
            HparamValue::Number(number) => put_double_field(&mut content, 2, *number),
            HparamValue::Text(text) => put_bytes_field(&mut content, 3, text.as_bytes()),
            HparamValue::Flag(flag) => put_varint_field(&mut content, 4, u64::from(*flag)),
        }
        put_bytes_field(&mut entry, 1, name.as_bytes());
        put_bytes_field(&mut entry, 2, &content);
        put_bytes_field(&mut start, 1, &entry);
    }
    put_bytes_field(&mut start, 4, group.as_bytes());
    put_double_field(&mut start, 5, wall_time);
    plugin_data(3, &start)
}

/// `SessionEndInfo { 1: status, 2: end time }`.
pub(super) fn session_end(wall_time: f64, status: SessionStatus) -> Vec<u8> {
    let status = match status {
        SessionStatus::Success => 1,
        SessionStatus::Failure => 2,
        SessionStatus::Running => 3,
    };
    let mut end = Vec::new();
    put_varint_field(&mut end, 1, status);
    put_double_field(&mut end, 2, wall_time);
    plugin_data(4, &end)
}

/// `HParamsPluginData` with one of its three contents; its version is 0, which is the default.
fn plugin_data(field: u32, content: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    put_bytes_field(&mut data, field, content);
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    // Bytes by hand from api.proto and plugin_data.proto of TensorBoard's hparams plugin, from
    // struct.proto and the encoding guide. 1.0, 2.0 and 4.0 end in f0 3f, 00 40 and 10 40.

    #[test]
    fn columns_are_an_experiment() {
        let hparams =
            [("lr", HparamKind::Number), ("on", HparamKind::Flag), ("net", HparamKind::Text)];
        let expected = b"\x12\x2c\
            \x19\x00\x00\x00\x00\x00\x00\xf0\x3f\
            \x22\x06\x0a\x02lr\x20\x03\
            \x22\x06\x0a\x02on\x20\x02\
            \x22\x07\x0a\x03net\x20\x01\
            \x2a\x08\x0a\x06\x12\x04loss";
        assert_eq!(experiment(1.0, &hparams, &["loss"]), expected);
    }

    #[test]
    fn values_of_a_session_are_a_map_of_struct_values() {
        let hparams = [
            ("lr", HparamValue::Number(0.5)),
            ("net", HparamValue::Text("mlp")),
            ("on", HparamValue::Flag(true)),
        ];
        let expected = b"\x1a\x35\
            \x0a\x0f\x0a\x02lr\x12\x09\x11\x00\x00\x00\x00\x00\x00\xe0\x3f\
            \x0a\x0c\x0a\x03net\x12\x05\x1a\x03mlp\
            \x0a\x08\x0a\x02on\x12\x02\x20\x01\
            \x22\x01g\
            \x29\x00\x00\x00\x00\x00\x00\x00\x40";
        assert_eq!(session_start(2.0, "g", &hparams), expected);
    }

    #[test]
    fn a_flag_that_is_off_is_written_and_not_left_out() {
        // Without its field the value would be of no kind at all.
        let expected = b"\x1a\x15\
            \x0a\x08\x0a\x02on\x12\x02\x20\x00\
            \x22\x00\
            \x29\x00\x00\x00\x00\x00\x00\x00\x40";
        assert_eq!(session_start(2.0, "", &[("on", HparamValue::Flag(false))]), expected);
    }

    #[test]
    fn a_session_ends_with_its_status() {
        let statuses =
            [(SessionStatus::Success, 1), (SessionStatus::Failure, 2), (SessionStatus::Running, 3)];
        for (status, number) in statuses {
            let mut expected = b"\x22\x0b\x08?\x11\x00\x00\x00\x00\x00\x00\x10\x40".to_vec();
            expected[3] = number;
            assert_eq!(session_end(4.0, status), expected);
        }
    }
}
