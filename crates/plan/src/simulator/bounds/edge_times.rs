//! How long the messages of an edge hold up its ends.

use crate::simulator::task::Task;

/// How long the messages of an edge hold things up at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::simulator) struct EdgeTimes {
    /// Of all readers, the shortest wait for its slowest message; none where some part of the
    /// reader waits for no message.
    pub(in crate::simulator) to_reader: Option<u64>,
    /// Of all sources, the shortest time of its slowest message; none where some part of the source
    /// has no reader.
    pub(in crate::simulator) to_source: Option<u64>,
    /// The most work that the messages are for one link, forward and backward.
    pub(in crate::simulator) forward_load: u64,
    pub(in crate::simulator) backward_load: u64,
}

impl EdgeTimes {
    pub(in crate::simulator) const NONE: Self =
        Self { to_reader: None, to_source: None, forward_load: 0, backward_load: 0 };
}

/// Finds the times of an edge, message by message.
#[derive(Debug)]
pub(in crate::simulator) struct EdgeScratch {
    /// One more than the time of the slowest message of each part; nothing before the first.
    sources: Vec<u64>,
    readers: Vec<u64>,
    /// Work of each resource.
    forward: Vec<u64>,
    backward: Vec<u64>,
    most_forward: u64,
    most_backward: u64,
}

impl EdgeScratch {
    pub(in crate::simulator) fn new(resources: usize) -> Self {
        Self {
            sources: Vec::new(),
            readers: Vec::new(),
            forward: vec![0; resources],
            backward: vec![0; resources],
            most_forward: 0,
            most_backward: 0,
        }
    }

    pub(in crate::simulator) fn begin(&mut self, sources: usize, readers: usize) {
        for (slowest, parts) in [(&mut self.sources, sources), (&mut self.readers, readers)] {
            slowest.clear();
            slowest.resize(parts, 0);
        }
        self.forward.fill(0);
        self.backward.fill(0);
        (self.most_forward, self.most_backward) = (0, 0);
    }

    /// Two parts on one device.
    pub(in crate::simulator) fn see_local(&mut self, source: usize, reader: usize) {
        self.sources[source] = self.sources[source].max(1);
        self.readers[reader] = self.readers[reader].max(1);
    }

    /// Two parts on different devices, with the messages to the reader and back.
    pub(in crate::simulator) fn see(
        &mut self,
        (source, reader): (usize, usize),
        to: &Task,
        back: &Task,
    ) {
        let slower = to.duration.min(back.duration);
        self.sources[source] = self.sources[source].max(slower + 1);
        self.readers[reader] = self.readers[reader].max(slower + 1);
        let forward = &mut self.forward[to.resource as usize];
        *forward += to.duration;
        self.most_forward = self.most_forward.max(*forward);
        let backward = &mut self.backward[back.resource as usize];
        *backward += back.duration;
        self.most_backward = self.most_backward.max(*backward);
    }

    pub(in crate::simulator) fn times(&self) -> EdgeTimes {
        let least = |slowest: &[u64]| slowest.iter().min().and_then(|own| own.checked_sub(1));
        EdgeTimes {
            to_reader: least(&self.readers),
            to_source: least(&self.sources),
            forward_load: self.most_forward,
            backward_load: self.most_backward,
        }
    }
}
