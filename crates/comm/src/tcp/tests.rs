//! A rank beside one that does not keep to the protocol.

use std::io::Write;
use std::net::TcpListener;

use proptest::prelude::*;

use super::*;

/// Rank 0 of 2, and the other ends of its connections.
fn beside() -> (TcpTransport, Link) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let pair = || {
        let far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener.accept().unwrap().0, far)
    };
    let ((data, far_data), (control, far_control)) = (pair(), pair());
    let mesh = Mesh { rank: 0, group: 1, links: vec![None, Some(Link { data, control })] };
    let timing = Timing {
        heartbeat: Duration::from_millis(50),
        patience: Duration::from_secs(5),
        limit: Duration::from_millis(300),
    };
    let own = TcpTransport::new(mesh, timing).unwrap();
    (own, Link { data: far_data, control: far_control })
}

/// What becomes of waiting for 8 bytes with tag 3 when these bytes come.
fn receive(bytes: &[u8]) -> Result<(), CommError> {
    let (mut own, far) = beside();
    (&far.data).write_all(bytes).unwrap();
    let mut into = [0; 8];
    own.exchange(Tag(3), &[], &mut [Place { from: 1, into: &mut into }])
}

fn header(group: u32, tag: u64, length: u64) -> [u8; 32] {
    Header { kind: Kind::Data, group, tag, length }.encode()
}

#[test]
fn a_claimed_length_is_refused_before_anything_is_read() {
    let error = receive(&header(1, 3, u64::MAX)).unwrap_err();
    let told = matches!(error, CommError::WrongLength { rank: 1, expected: 8, found: u64::MAX });
    assert!(told, "{error}");
}

#[test]
fn a_message_of_another_group_or_operation_is_refused() {
    let error = receive(&[&header(2, 3, 8)[..], &[0; 8]].concat()).unwrap_err();
    assert!(matches!(error, CommError::PeerLost { rank: 1, why: Loss::Nonsense }), "{error}");
    let error = receive(&[&header(1, 4, 8)[..], &[0; 8]].concat()).unwrap_err();
    assert!(matches!(error, CommError::OutOfStep { rank: 1, .. }), "{error}");
}

#[test]
fn a_rank_that_lives_but_does_not_move_is_given_up_after_the_limit() {
    let (mut own, far) = beside();
    let mut into = [0; 8];
    let error = own.exchange(Tag(3), &[], &mut [Place { from: 1, into: &mut into }]).unwrap_err();
    assert!(matches!(error, CommError::PeerLost { rank: 1, why: Loss::TimedOut }), "{error}");
    drop(far);
}

#[test]
fn nonsense_on_the_connection_for_signs_of_life_is_told() {
    let (own, far) = beside();
    (&far.control).write_all(&[7; 64]).unwrap();
    let verdict = own.watch.why_closed(1);
    let told = CommError::PeerLost { rank: 1, why: Loss::Nonsense };
    assert_eq!(verdict.error().to_string(), told.to_string());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn changed_headers_are_refused_and_never_panic(place in 0_usize..32, byte: u8) {
        let mut bytes = [&header(1, 3, 8)[..], &[0; 8]].concat();
        let same = bytes[place] == byte;
        bytes[place] = byte;
        prop_assert_eq!(receive(&bytes).is_ok(), same);
    }
}
