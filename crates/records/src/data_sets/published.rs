//! The four files of a set in the MNIST layout, and the fingerprints of Fashion-MNIST's.

use std::fmt::Write as _;
use std::io::Read;

use sha2::{Digest, Sha256};

use crate::error::RecordsError;

/// One file of a published set; hash and size are of its unpacked content, because the same
/// content is distributed in several gzip wrappings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublishedFile {
    pub(crate) name: &'static str,
    pub(crate) bytes: u64,
    pub(crate) sha256: &'static str,
}

pub(crate) const TRAIN_IMAGES: &str = "train-images-idx3-ubyte";
pub(crate) const TRAIN_LABELS: &str = "train-labels-idx1-ubyte";
pub(crate) const TEST_IMAGES: &str = "t10k-images-idx3-ubyte";
pub(crate) const TEST_LABELS: &str = "t10k-labels-idx1-ubyte";

/// Fashion-MNIST (Xiao, Rasul and Vollgraf 2017). The authors list MD5 sums of their gzip files:
/// 8d4fb7e6c68d591d4c3dfef9ec88bf0d, 25c81989df183df01b3e8a0aad5dffbe,
/// bef4ecab320f06d8554ea6380940ec79 and bb300cfdad3c16e7a12a480ee83cd310 in the order below. The
/// content of Debian's dataset-fashion-mnist, of which these hashes are, was checked to give just
/// those sums when it is wrapped as the authors did (gzip -6, with names and times of 2017-08-31).
pub(crate) const FASHION_MNIST: [PublishedFile; 4] = [
    PublishedFile {
        name: TRAIN_IMAGES,
        bytes: 47_040_016,
        sha256: "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    },
    PublishedFile {
        name: TRAIN_LABELS,
        bytes: 60_008,
        sha256: "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    },
    PublishedFile {
        name: TEST_IMAGES,
        bytes: 7_840_016,
        sha256: "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    },
    PublishedFile {
        name: TEST_LABELS,
        bytes: 10_008,
        sha256: "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    },
];

impl PublishedFile {
    /// The unpacked content of `input`, when it is the published one.
    pub(crate) fn read(&self, input: impl Read, origin: &str) -> Result<Vec<u8>, RecordsError> {
        let in_origin = |error: RecordsError| error.in_file(origin);
        let mut content = Vec::new();
        // One byte more than published is enough to tell a longer content.
        crate::data_sets::idx::unpacked(input)
            .and_then(|input| Ok(input.take(self.bytes + 1).read_to_end(&mut content)?))
            .map_err(in_origin)?;
        let computed = hex_sha256(&content);
        if computed != self.sha256 {
            return Err(RecordsError::WrongContent {
                origin: origin.to_owned(),
                expected: self.sha256.to_owned(),
                computed,
            });
        }
        Ok(content)
    }
}

fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(hex, "{byte:02x}").expect("writing to a string does not fail");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_of_the_standard_s_vector_is_right() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            hex_sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn a_longer_content_is_not_unpacked_beyond_need() {
        let file = PublishedFile { name: "x", bytes: 2, sha256: "none" };
        let error = file.read(&[7; 1000][..], "somewhere").unwrap_err();
        let computed = hex_sha256(&[7; 3]);
        assert_eq!(
            error.to_string(),
            format!(
                "somewhere: SHA-256 of the unpacked content is {computed}, that of the published \
                 file is none"
            )
        );
    }
}
