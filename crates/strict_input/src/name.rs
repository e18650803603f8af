//! The one rule for names of schemes, paths, experiments and cells: files and directories are called by them.

/// What a name is, as the end of a refusal.
pub const NAME_RULE: &str =
    "letters, digits and `._+-`, starting with a letter, a digit or `_`, at most 100 characters";

/// Longest name, bytes.
const LONGEST: usize = 100;

/// Whether `text` is a name: one part of a file's name, wherever it stands in it, that means the same to every shell.
pub fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    first && text.len() <= LONGEST && text.bytes().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parts_of_file_names_and_nothing_else() {
        let longest = "x".repeat(LONGEST);
        for good in ["bbr", "ledbat++", "static.default", "_own", "7", "a.b-c_d+e", &longest] {
            assert!(is_name(good), "{good}");
        }
        let longer = format!("{longest}x");
        let bad = [
            "",
            ".",
            "..",
            ".unfinished",
            "../x",
            "a/b",
            "a b",
            "cubic*2",
            "a~2",
            "a\n",
            "a\0",
            "-x",
            "+x",
            "\u{1b}[2J",
            "é",
            &longer,
        ];
        for bad in bad {
            assert!(!is_name(bad), "{bad:?}");
        }
    }
}
