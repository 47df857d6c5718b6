//! A moment as people write it: date and time of day in UTC.

use std::fmt;

/// A second of the calendar, in UTC; shows itself as `2026-03-01 09:05:00`.
///
/// ```
/// use trainwright_study::Moment;
///
/// assert_eq!(Moment::of_unix_s(951_782_400).to_string(), "2000-02-29 00:00:00");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Year of the Gregorian calendar, also before it was in use.
    pub year: i64,
    /// From 1.
    pub month: i64,
    /// Day of the month, from 1.
    pub day: i64,
    /// Seconds since midnight.
    pub second_of_day: i64,
}

/// Days of 400 years, after which the calendar repeats itself.
const CYCLE: i64 = 146_097;

impl Moment {
    /// The moment so many seconds after the beginning of 1970.
    pub fn of_unix_s(seconds: i64) -> Self {
        let day = seconds.div_euclid(86_400);
        // Counted from 1 March of the year 0, so that a leap day is the last of its year.
        let since_march = day + 719_468;
        let (cycle, of_cycle) = (since_march.div_euclid(CYCLE), since_march.rem_euclid(CYCLE));
        // Years of 365 days, without the leap days of each 4, 100 and 400 years before.
        let leaps = of_cycle / 1_460 - of_cycle / 36_524 + of_cycle / (CYCLE - 1);
        let year = (of_cycle - leaps) / 365;
        let of_year = of_cycle - (365 * year + year / 4 - year / 100);
        // From March on, five months have 153 days, over and over.
        let month = (5 * of_year + 2) / 153;
        let january = month >= 10;
        Self {
            year: 400 * cycle + year + i64::from(january),
            month: if january { month - 9 } else { month + 3 },
            day: of_year - (153 * month + 2) / 5 + 1,
            second_of_day: seconds.rem_euclid(86_400),
        }
    }

    /// Date, hour and minute: `2026-03-01 09:05`.
    pub fn to_the_minute(&self) -> String {
        let Self { year, month, day, second_of_day } = self;
        let (hour, minute) = (second_of_day / 3_600, second_of_day / 60 % 60);
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{:02}", self.to_the_minute(), self.second_of_day % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_a_thousand_years_follows_the_one_before() {
        let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = |year: i64, month: i64| match month {
            2 => 28 + i64::from(leap(year)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (mut year, mut month, mut date) = (1970, 1, 1);
        for day in 0..365_243 {
            let found = Moment::of_unix_s(day * 86_400);
            assert_eq!((found.year, found.month, found.day), (year, month, date), "day {day}");
            date += 1;
            if date > length(year, month) {
                (date, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }

    #[test]
    fn moments_before_1970_are_right_too() {
        assert_eq!(Moment::of_unix_s(-1).to_string(), "1969-12-31 23:59:59");
        assert_eq!(Moment::of_unix_s(-2_208_988_800).to_string(), "1900-01-01 00:00:00");
        assert_eq!(Moment::of_unix_s(-62_167_219_200).to_the_minute(), "0000-01-01 00:00");
    }

    #[test]
    fn no_number_of_seconds_overflows() {
        for seconds in [i64::MIN, i64::MAX] {
            assert!(!Moment::of_unix_s(seconds).to_string().is_empty());
        }
    }
}
