//! Secrets: the token that visitors show, the cookie that they get for it, and tokens of trials.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::serve::ServeError;

/// Characters below which a token could be guessed.
const LEAST: usize = 16;

/// A secret that only ever leaves as a code made with it.
#[derive(Clone)]
pub(crate) struct Token {
    secret: Vec<u8>,
}

impl Token {
    /// The token in a file that only its owner may read.
    pub(crate) fn read(path: &Path) -> Result<Self, ServeError> {
        let failed = |source| ServeError::TokenFile { path: path.to_owned(), source };
        let mode = fs::metadata(path).map_err(failed)?.mode();
        let text = fs::read_to_string(path).map_err(failed)?;
        let secret = text.trim();
        if secret.len() < LEAST {
            return Err(ServeError::ShortToken { path: path.to_owned(), found: secret.len() });
        }
        if mode & 0o077 != 0 {
            return Err(ServeError::OpenToken { path: path.to_owned() });
        }
        Ok(Self { secret: secret.as_bytes().to_vec() })
    }

    /// A secret of this moment.
    pub(crate) fn random() -> Self {
        let mut secret = vec![0; 32];
        getrandom::fill(&mut secret).expect("the system gives random bytes");
        Self { secret }
    }

    /// The secret kept in a file; made, for its owner alone, where there is none.
    pub(crate) fn kept(path: &Path) -> io::Result<Self> {
        if let Ok(secret) = fs::read(path)
            && secret.len() >= LEAST
        {
            return Ok(Self { secret });
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let own = Self::random();
        // Whole under a name of its own first, so that all who come at once take the same one.
        let fresh = path.with_extension(&own.code("name")[..16]);
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        let made = file.write_all(&own.secret).and_then(|()| match fs::hard_link(&fresh, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
        fs::remove_file(&fresh)?;
        made?;
        let secret = fs::read(path)?;
        if secret.len() < LEAST {
            let words = format!("{} is too short to be a secret; remove it", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, words));
        }
        Ok(Self { secret })
    }

    /// A code for a purpose, which tells nothing about the secret.
    pub(crate) fn code(&self, purpose: &str) -> String {
        let mut code = Hmac::<Sha256>::new_from_slice(&self.secret).expect("keys have any length");
        code.update(purpose.as_bytes());
        code.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether a code is the one for a purpose.
    pub(crate) fn is_code(&self, purpose: &str, shown: &str) -> bool {
        same(self.code(purpose).as_bytes(), shown.as_bytes())
    }

    /// Whether a visitor showed the token itself.
    pub(crate) fn is(&self, shown: &str) -> bool {
        // Codes have one length, so that not even the token's own is told by the time it takes.
        let of = |secret: &[u8]| Self { secret: secret.to_vec() }.code("token");
        same(of(&self.secret).as_bytes(), of(shown.trim().as_bytes()).as_bytes())
    }
}

/// Compares in a time that does not depend on where texts differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0u8, |known, (a, b)| known | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_token_opens_and_codes_are_for_one_purpose() {
        let token = Token { secret: b"0123456789abcdef".to_vec() };
        assert!(token.is("0123456789abcdef\n"));
        for wrong in ["", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef0"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        let code = token.code("session");
        assert!(token.is_code("session", &code) && !token.is_code("form", &code));
        assert!(!token.is_code("session", &code[1..]));
        assert!(!code.contains("0123456789abcdef"));
    }

    #[test]
    fn a_token_file_must_be_long_enough_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let write = |text: &str, mode: u32| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Token::read(&path)
        };
        assert!(write("0123456789abcdef\n", 0o600).is_ok());
        assert!(matches!(write("short", 0o600), Err(ServeError::ShortToken { found: 5, .. })));
        assert!(matches!(write("0123456789abcdef", 0o644), Err(ServeError::OpenToken { .. })));
        assert!(matches!(
            Token::read(&folder.path().join("no")),
            Err(ServeError::TokenFile { .. })
        ));
    }

    #[test]
    fn a_kept_secret_stays_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let first = Token::kept(&path).unwrap().code("x");
        assert_eq!(Token::kept(&path).unwrap().code("x"), first);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn all_who_need_a_secret_at_once_get_the_same_one() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("of a study/that never ran/tokens.secret");
            let codes: Vec<String> = std::thread::scope(|scope| {
                let make = || Token::kept(&path).unwrap().code("x");
                let all: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
                all.into_iter().map(|own| own.join().unwrap()).collect()
            });
            assert!(codes.iter().all(|own| *own == codes[0]));
            let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
            assert_eq!(left, 1, "nothing but the secret is left");
        }
    }

    #[test]
    fn a_secret_that_was_cut_short_is_named_and_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.secret");
        fs::write(&path, "abc").unwrap();
        let told = Token::kept(&path).err().unwrap().to_string();
        assert!(told.contains("tokens.secret") && told.contains("too short"), "{told}");
    }
}
