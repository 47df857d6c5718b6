//! Files that every report carries, and that live pages load.

/// Draws charts; its origin and licence stand in `assets/echarts/README.md`.
pub const ECHARTS: &str = include_str!("../assets/echarts/echarts.common.min.js");

/// Draws this report's charts, sorts its tables, switches its tabs.
pub const SCRIPT: &str = include_str!("../assets/report.js");

/// How it looks.
pub const STYLE: &str = include_str!("../assets/report.css");

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn echarts_is_the_published_file() {
        let hash: String =
            Sha256::digest(ECHARTS).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(include_str!("../assets/echarts/README.md").contains(&hash), "{hash}");
    }

    #[test]
    fn scripts_and_styles_cannot_end_their_elements() {
        for text in [ECHARTS, SCRIPT, STYLE] {
            assert!(!text.contains("</script") && !text.contains("</style"));
            assert!(!text.contains("<!--"));
        }
    }
}
