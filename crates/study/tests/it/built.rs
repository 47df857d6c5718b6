//! Studies put together in code.

use trainwright_study::draft::{
    DesignDraft, DesignKindDraft, FactorDraft, MetricDraft, StudyDraft, WordDraft,
};
use trainwright_study::{Level, Study, changes};

use crate::good::{COMMAND_STUDY, JOB_STUDY};

fn draft() -> StudyDraft {
    let mut draft = StudyDraft::new("built");
    let threads = FactorDraft::with_levels(vec![Level::Integer(1), Level::Integer(2)]);
    draft.factors = std::iter::once(("threads".to_owned(), threads)).collect();
    draft.design = Some(DesignDraft::new(DesignKindDraft::Full));
    draft.run.command =
        Some(["sh", "{threads}"].map(|word| WordDraft::One(word.to_owned())).into());
    draft.metrics = std::iter::once(("rate".to_owned(), MetricDraft::default())).collect();
    draft
}

#[test]
fn a_study_built_in_code_is_the_one_that_a_file_says() {
    let text = "schema = 1\n[study]\nname = \"built\"\n[factors.threads]\nlevels = [1, 2]\n\
                [design]\ntype = \"full\"\n[run]\ncommand = [\"sh\", \"{threads}\"]\n[metrics.rate]\n";
    let built = Study::from_draft(draft()).unwrap();
    assert_eq!(built.basis(), Study::from_text(text).unwrap().basis());
    assert_eq!(built.source.text, "");
}

#[test]
fn what_is_built_in_code_meets_the_same_checks_without_places() {
    let mut draft = draft();
    draft.factors.0[0].1.levels = Some(vec![Level::Integer(1)]);
    draft.metrics.0[0].1.expr = Some("speed * 2".to_owned());
    let error = Study::from_draft(draft).unwrap_err().to_string();
    let expected = "`threads` has 1 level, a factor needs 2 (move a constant into [job] or the command)\n\
                    `speed` is no metric and no factor (there are rate, threads, wall_s, cpu_s, \
                    peak_memory_bytes, disk_read_bytes, disk_write_bytes)";
    assert_eq!(error, expected);
}

#[test]
fn a_study_survives_being_kept_as_json() {
    let centred = "type = \"box-behnken\"\ncenter_points = 3";
    let texts = [
        COMMAND_STUDY.to_owned(),
        JOB_STUDY.to_owned(),
        COMMAND_STUDY.replace("type = \"full\"", centred),
        COMMAND_STUDY.replace("type = \"full\"", "type = \"full\"\ncenter_points = 2\nblocks = 2"),
    ];
    for text in texts {
        let study = Study::from_text(&text).unwrap();
        let kept = serde_json::to_string(&study).unwrap();
        let read: Study = serde_json::from_str(&kept).unwrap();
        assert_eq!(changes(&study.basis(), &read.basis()), []);
        assert_eq!(
            (read.design, read.run, read.analysis),
            (study.design, study.run, study.analysis)
        );
        assert_eq!((read.metrics, read.source), (study.metrics, study.source));
    }
}
