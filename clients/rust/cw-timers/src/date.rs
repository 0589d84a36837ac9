//! Days of the Gregorian calendar, in integers.

/// A day of the Gregorian calendar.
#[derive(Clone, Copy)]
pub(crate) struct Date {
    pub year: i64,
    /// From 1 on.
    pub month: i64,
    pub day: i64,
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(crate) fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days before a year, from the year 0 on.
fn days_before_year(year: i64) -> i64 {
    let past = year - 1;
    365 * year + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400) + 1
}

/// The days from 1970-01-01 to a date.
pub(crate) fn day_number(date: Date) -> i64 {
    let before: i64 = (1..date.month).map(|month| days_in(date.year, month)).sum();
    days_before_year(date.year) - days_before_year(1970) + before + date.day - 1
}

pub(crate) fn date_of(day: i64) -> Date {
    let since = day + days_before_year(1970);
    // 400 years have 146,097 days: the estimate is the year, or one next to it.
    let mut year = (since * 400).div_euclid(146_097);
    while days_before_year(year) > since {
        year -= 1;
    }
    while days_before_year(year + 1) <= since {
        year += 1;
    }
    let (mut month, mut day) = (1, since - days_before_year(year) + 1);
    while day > days_in(year, month) {
        day -= days_in(year, month);
        month += 1;
    }
    Date { year, month, day }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_lead_back() {
        let mut expected = Date { year: 1969, month: 12, day: 1 };
        for number in -31..2_932_897 {
            let Date { year, month, day } = date_of(number);
            assert_eq!((year, month, day), (expected.year, expected.month, expected.day));
            assert_eq!(day_number(expected), number);
            expected.day += 1;
            if expected.day > days_in(year, month) {
                (expected.day, expected.month) = (1, month + 1);
            }
            if expected.month > 12 {
                (expected.month, expected.year) = (1, year + 1);
            }
        }
        assert_eq!((expected.year, expected.month, expected.day), (10_000, 1, 1));
    }
}
