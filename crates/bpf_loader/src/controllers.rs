//! The controllers that the program carries.

use crate::error::Error;

/// One file of `kernel/`.
#[derive(Debug)]
pub(crate) struct Controller {
    /// Name for `TCP_CONGESTION`, and of its map of `struct_ops`.
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    /// The compiled program (ELF); `None` if there was no clang.
    pub(crate) object: Option<&'static [u8]>,
}

/// All of them, by name.
pub(crate) const ALL: &[Controller] = include!(concat!(env!("OUT_DIR"), "/controllers.rs"));

/// The controller called `name`.
pub(crate) fn find(name: &str) -> Result<&'static Controller, Error> {
    ALL.iter().find(|controller| controller.name == name).ok_or_else(|| {
        let known: Vec<_> = ALL.iter().map(|controller| controller.name).collect();
        Error::NoController { name: name.to_owned(), known: known.join(", ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_the_kernel_and_every_controller_says_what_it_does() {
        assert!(ALL.len() >= 3);
        for controller in ALL {
            assert!(controller.name.len() < 16, "{}", controller.name);
            assert!(controller.summary.ends_with('.'), "{}: {}", controller.name, controller.summary);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        assert_eq!(
            find("vegas").expect_err("no such name").to_string(),
            "vegas: no such controller; allowed: bpf_copa_delay, bpf_ledbat, bpf_ledbat_2017, bpf_vegas"
        );
    }
}
