//! Parsers of the files that the kernel keeps for each process: `stat`, `io`, `statm`, `status`,
//! `schedstat`.
//!
//! The formats are those of proc(5).

/// A process as `/proc/PID/stat` tells it; times are clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStat {
    /// Process id.
    pub pid: u32,
    /// State letter, `Z` for one that has ended and waits to be reaped.
    pub state: char,
    /// Its parent.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// The terminal that controls it, 0 without one.
    pub terminal: u32,
    /// Time in user mode, its own.
    pub user_ticks: u64,
    /// Time in kernel mode, its own.
    pub system_ticks: u64,
    /// User time of the children it has reaped.
    pub reaped_user_ticks: u64,
    /// Kernel time of the children it has reaped.
    pub reaped_system_ticks: u64,
    /// When it started, since boot; with the id it names a process for good.
    pub start_ticks: u64,
}

/// Bytes between a process and storage, its reaped children included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessIo {
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes sent to storage.
    pub write_bytes: u64,
}

/// Reads `/proc/PID/stat`; nothing when the text is no such line.
///
/// The name stands in parentheses and may itself hold spaces, parentheses and line ends, so the
/// fields are counted from the last closing parenthesis.
pub fn parse_stat(text: &str) -> Option<ProcessStat> {
    let open = text.find('(')?;
    let close = text.rfind(')')?;
    let pid = text[..open].trim().parse().ok()?;
    let fields: Vec<&str> = text.get(close + 1..)?.split_ascii_whitespace().collect();
    // The first field after the name is field 3 of the manual page.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    // Children of a signed type in the kernel; a negative one never occurs.
    let id = |field: usize| fields.get(field - 3)?.parse::<i64>().ok()?.try_into().ok();
    Some(ProcessStat {
        pid,
        state: fields.first()?.chars().next()?,
        parent: id(4)?,
        group: id(5)?,
        session: id(6)?,
        // A device number, which the kernel prints with a sign.
        terminal: fields.get(7 - 3)?.parse::<i32>().ok()?.cast_unsigned(),
        user_ticks: number(14)?,
        system_ticks: number(15)?,
        reaped_user_ticks: number(16)?,
        reaped_system_ticks: number(17)?,
        start_ticks: number(22)?,
    })
}

/// Reads `/proc/PID/io`; nothing when either figure is missing.
pub fn parse_io(text: &str) -> Option<ProcessIo> {
    Some(ProcessIo {
        read_bytes: value_of(text, "read_bytes:")?,
        write_bytes: value_of(text, "write_bytes:")?,
    })
}

/// Time that a thread was ready and had no core, in nanoseconds, out of
/// `/proc/PID/task/TID/schedstat`.
pub(crate) fn parse_run_queue(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Resident pages out of `/proc/PID/statm`.
pub(crate) fn parse_resident_pages(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Largest resident memory so far in bytes, out of `/proc/PID/status`.
///
/// A process without memory of its own, such as one that has just ended, has no such line.
pub(crate) fn parse_peak_memory(text: &str) -> Option<u64> {
    value_of(text, "VmHWM:")?.checked_mul(1024)
}

/// The number after a key at the start of a line.
pub(crate) fn value_of(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stat_line(pid: u32, name: &str, numbers: [u64; 6]) -> String {
        let [parent, group, user, system, reaped, start] = numbers;
        format!(
            "{pid} ({name}) S {parent} {group} 1 0 -1 4194304 1 0 0 0 {user} {system} {reaped} \
             {reaped} 20 0 1 0 {start} 3133440 385 184467 1 1 1 0 0 0 0 0\n"
        )
    }

    #[test]
    fn a_real_line_is_read() {
        let text = "8880 (cat) R 8878 8877 7938 0 -1 4194304 103 0 0 0 5 6 7 8 20 0 1 0 96336 \
                    3133440 385 18446744073709551615 94113744285696 0 0 0";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.pid, stat.state, stat.parent, stat.group), (8880, 'R', 8878, 8877));
        assert_eq!((stat.session, stat.terminal), (7938, 0));
        assert_eq!((stat.user_ticks, stat.system_ticks), (5, 6));
        assert_eq!((stat.reaped_user_ticks, stat.reaped_system_ticks), (7, 8));
        assert_eq!(stat.start_ticks, 96336);
    }

    #[test]
    fn io_memory_and_pages_are_read() {
        let io = parse_io("rchar: 7273\nwchar: 297\nread_bytes: 10\nwrite_bytes: 4096\n").unwrap();
        assert_eq!(io, ProcessIo { read_bytes: 10, write_bytes: 4096 });
        assert_eq!(parse_run_queue("145090 11239 2\n"), Some(11239));
        assert_eq!(parse_run_queue("145090"), None);
        assert_eq!(parse_resident_pages("765 430 401 5 0 123 0\n"), Some(430));
        assert_eq!(parse_peak_memory("Name:\tsh\nVmHWM:\t    1720 kB\n"), Some(1720 * 1024));
        assert_eq!(parse_peak_memory("Name:\tsh\nState:\tZ (zombie)\n"), None);
    }

    proptest! {
        #[test]
        fn any_process_name_is_passed_over(
            name in ".{0,15}",
            pid in 1u32..5_000_000,
            numbers in prop::array::uniform6(0u64..1 << 31),
        ) {
            let stat = parse_stat(&stat_line(pid, &name, numbers)).unwrap();
            prop_assert_eq!((stat.pid, stat.state), (pid, 'S'));
            let read = [
                u64::from(stat.parent), u64::from(stat.group), stat.user_ticks,
                stat.system_ticks, stat.reaped_system_ticks, stat.start_ticks,
            ];
            prop_assert_eq!(read, numbers);
        }

        #[test]
        fn no_text_makes_a_parser_panic(text in "(?s).{0,200}") {
            let _ = (parse_stat(&text), parse_io(&text), parse_resident_pages(&text));
            let _ = (parse_peak_memory(&text), parse_run_queue(&text));
        }
    }
}
