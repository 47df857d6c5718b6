//! The values of a metric: exact in what counts, thinned where there are too many to keep.

use trainwright_study::Pick;

use super::Point;

/// Values kept of one metric.
const MOST_KEPT: usize = 1 << 16;

/// All values of one metric in the order of the text.
///
/// Which of them counts is known exactly, however many there are. Of more than are kept, every
/// second, fourth and so on is, and the last one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    kept: Vec<Point>,
    /// Two to this power is the distance between kept values.
    thinned: u32,
    count: usize,
    first: f64,
    last: Option<Point>,
    least: f64,
    most: f64,
    sum: f64,
    not_finite: Option<Point>,
}

impl Values {
    pub(crate) fn add(&mut self, point: Point) {
        let value = point.value;
        if self.count == 0 {
            (self.first, self.least, self.most) = (value, value, value);
        }
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        self.sum += value;
        if !value.is_finite() && self.not_finite.is_none() {
            self.not_finite = Some(point.clone());
        }
        if self.count.is_multiple_of(self.stride()) {
            self.kept.push(point.clone());
        }
        self.last = Some(point);
        self.count += 1;
        if self.kept.len() > MOST_KEPT {
            self.thin();
        }
    }

    /// Forgets every second value.
    pub(crate) fn thin(&mut self) {
        let mut number = 0;
        self.kept.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.thinned += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The line of the last one.
    pub(crate) fn last_line(&self) -> Option<usize> {
        self.last.as_ref().map(|point| point.line)
    }

    /// How many there were.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How many are kept.
    pub(crate) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// The kept values with their numbers from 1.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Point)> {
        let kept = self.kept.iter().enumerate();
        let kept = kept.map(|(index, point)| (index * self.stride() + 1, point));
        let last_is_kept = self.count == 0 || (self.count - 1).is_multiple_of(self.stride());
        let last = self.last.iter().filter(move |_| !last_is_kept);
        kept.chain(last.map(|point| (self.count, point)))
    }

    /// The value that counts; nothing without values or where one is not finite.
    pub(crate) fn picked(&self, pick: Pick) -> Option<f64> {
        let last = self.last.as_ref().filter(|_| self.not_finite.is_none())?;
        Some(match pick {
            Pick::Last => last.value,
            Pick::First => self.first,
            Pick::Min => self.least,
            Pick::Max => self.most,
            Pick::Mean => self.sum / self.count as f64,
        })
    }

    /// The first value that is NaN or infinite.
    pub(crate) fn diverged(&self) -> Option<&Point> {
        self.not_finite.as_ref()
    }

    fn stride(&self) -> usize {
        1 << self.thinned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(number: usize) -> Point {
        Point { line: number, text: "".into(), value: number as f64, step: None }
    }

    #[test]
    fn what_counts_is_exact_however_many_there_are() {
        let count = 5 * MOST_KEPT;
        let mut values = Values::default();
        (1..=count).for_each(|number| values.add(point(number)));
        assert!(values.kept() <= MOST_KEPT);
        assert_eq!(values.count(), count);
        let picked = [Pick::First, Pick::Last, Pick::Min, Pick::Max, Pick::Mean]
            .map(|pick| values.picked(pick).unwrap());
        let most = count as f64;
        assert_eq!(picked, [1.0, most, 1.0, most, (most + 1.0) / 2.0]);
        assert!(values.iter().all(|(number, point)| point.line == number));
        assert_eq!(values.iter().last().unwrap().0, count);
    }

    #[test]
    fn one_value_that_is_not_finite_leaves_none_that_counts() {
        let mut values = Values::default();
        values.add(point(1));
        values.add(Point { value: f64::NAN, ..point(2) });
        values.add(point(3));
        assert_eq!(values.picked(Pick::First), None);
        assert_eq!(values.diverged().unwrap().line, 2);
        assert_eq!(Values::default().picked(Pick::Mean), None);
    }
}
