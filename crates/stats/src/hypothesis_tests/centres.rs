//! Do samples lie in the same place? Means by t and F, middles by ranks.

pub(crate) mod kruskal_wallis;
pub(crate) mod mann_whitney;
pub(crate) mod one_way;
pub(crate) mod t_test;
pub(crate) mod tukey;
pub(crate) mod welch;
pub(crate) mod wilcoxon;
