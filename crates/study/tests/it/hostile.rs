use proptest::prelude::*;
use trainwright_study::Study;

use crate::good::COMMAND_STUDY;

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = Study::from_text(&text).map_err(|error| error.to_string());
    }

    /// Damage to a good file reaches deeper than random text does.
    #[test]
    fn no_damage_makes_the_reader_panic(
        at in 0..COMMAND_STUDY.len(),
        length in 0usize..30,
        insert in "[\\[\\]{}\"'=a-z0-9.\n]{0,8}",
    ) {
        let end = (at + length).min(COMMAND_STUDY.len());
        let text = format!("{}{insert}{}", &COMMAND_STUDY[..at], &COMMAND_STUDY[end..]);
        let _ = Study::from_text(&text).map_err(|error| error.to_string());
    }
}
