//! Addresses: names as they stand in paths and queries.

/// A name as a part of a path or a query.
pub(crate) fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    name.bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// The address of a study's pages.
pub(crate) fn of_study(id: &str) -> String {
    // A lone dot would be taken for the folder itself.
    let id = encoded(id);
    if id.chars().all(|own| own == '.') {
        return format!("/s/{}", id.replace('.', "%2E"));
    }
    format!("/s/{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_part_of_an_address() {
        assert_eq!(encoded("a-b_c.d~2"), "a-b_c.d~2");
        assert_eq!(encoded("a/b?c#d e&é"), "a%2Fb%3Fc%23d%20e%26%C3%A9");
        assert_eq!(of_study(".."), "/s/%2E%2E");
    }
}
