use trainwright_engine::{Engine, EngineError};
use trainwright_study::Outcome;

use crate::lab::{ACC, Lab, end};

#[test]
fn two_slots_run_two_trials_at_once() {
    // Each trial ends only after the other has started.
    let script = "touch started-$TRAINWRIGHT_TRIAL
                  while [ ! -e started-1 ] || [ ! -e started-2 ]; do :; done
                  echo '::metric {\"acc\": 1}'";
    let lab = Lab::new(script, "", ACC);
    let mut engine = lab.engine(2);
    engine.submit(lab.order(1)).unwrap();
    engine.submit(lab.order(2)).unwrap();
    assert_eq!(engine.free_slots(), 0);
    let full = engine.submit(lab.order(3)).unwrap_err();
    assert!(matches!(full, EngineError::NoFreeSlot { trial: 3, wanted: 1, free: 0 }), "{full}");
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let (number, record) = end(&mut engine);
        numbers.push(number);
        assert_eq!(record.outcome, Outcome::Finished);
        assert_eq!(record.usage.unwrap().network, None, "the bytes may be the other trial's");
    }
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2]);
    assert_eq!(engine.free_slots(), 2);
    engine.submit(lab.order(3)).unwrap();
    assert!(end(&mut engine).1.usage.unwrap().network.is_some(), "alone again");
}
