//! Rule for names of schemes, paths, experiments and cells, which become names of files and directories.

/// Text of the rule, as the end of an error.
pub const NAME_RULE: &str =
    "letters, digits and `._+-`, starting with a letter, a digit or `_`, at most 100 characters";

/// Maximum length of a name, bytes.
const LONGEST: usize = 100;

/// Returns true if `text` is a name. A name can be any part of a file name, and has no special meaning in any shell.
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
